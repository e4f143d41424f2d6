"""Sizes of files, as people read them."""


def format_size(size: int) -> str:
    """Return a number of bytes with its unit: `512 bytes`, `1.5 KB`, `20 MB`."""
    amount, unit = float(size), "bytes"
    for larger in ("KB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    digits = 1 if unit == "GB" or (unit != "bytes" and amount < 10) else 0
    return f"{amount:.{digits}f} {unit}"

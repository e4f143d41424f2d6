"""Divide texts into batches of a bounded number of tokens, so that encoding them takes a bounded amount of memory."""

from collections.abc import Iterator, Sequence

Tokens = Sequence[int]


def token_batches(texts: Sequence[Tokens], most: int) -> Iterator[Sequence[Tokens]]:
    """Yield the texts in batches of at most so many tokens, in order; a longer text is a batch by itself."""
    start, size = 0, 0
    for place, tokens in enumerate(texts):
        if size and size + len(tokens) > most:
            yield texts[start:place]
            start, size = place, 0
        size += len(tokens)
    if start < len(texts):
        yield texts[start:]

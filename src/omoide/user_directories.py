"""Where omoide's configuration, data and cache are, as the XDG specification or the platform has it."""

import os
import sys
from pathlib import Path


def config_directory() -> Path:
    """Return the directory of omoide's configuration, which need not exist."""
    return _user_directory("XDG_CONFIG_HOME", "~/.config")


def data_directory() -> Path:
    """Return the directory of omoide's data, which need not exist."""
    return _user_directory("XDG_DATA_HOME", "~/.local/share")


def cache_directory() -> Path:
    """Return the directory of what omoide can compute again, which need not exist."""
    return _user_directory("XDG_CACHE_HOME", "~/.cache")


def default_store() -> str:
    """Return the database file of somebody who names no other one."""
    return str(data_directory() / "memory.db")


def _user_directory(variable: str, default: str) -> Path:
    if sys.platform == "linux" and os.environ.get("HOME", "").startswith("/"):  # platformdirs takes 4 ms of every command
        named = os.environ.get(variable, "")
        return Path(named if named.startswith("/") else default).expanduser() / "omoide"
    import platformdirs  # lazy: see above

    directories = {"XDG_DATA_HOME": platformdirs.user_data_dir, "XDG_CACHE_HOME": platformdirs.user_cache_dir}
    return Path(directories.get(variable, platformdirs.user_config_dir)("omoide"))

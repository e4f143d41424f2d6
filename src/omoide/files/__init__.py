"""Files on disk: atomic writes inside one directory, saves that meet a write, git repositories."""

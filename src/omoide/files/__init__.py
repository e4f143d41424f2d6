"""Files on disk: atomic writes inside one directory, write leases, git repositories."""

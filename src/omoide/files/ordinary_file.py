"""Open a file that others named or may have replaced: an ordinary one at once, and nothing else."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_ordinary_file(path: Path) -> BinaryIO:
    """Open an ordinary file for reading. Raises OSError for anything else: a named pipe would wait for a writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not an ordinary file", str(path))
    return os.fdopen(descriptor, "rb")

"""Patterns, compiled when they are first needed."""

import re
from functools import cache

from omoide.compiled_patterns import load_pattern


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile when first needed. Most texts need none, and compiling them all would slow every start.

    ASCII: Japanese puts no space between a token and the words around it, and yet the token begins and ends there.
    """
    return load_pattern(pattern, re.ASCII)

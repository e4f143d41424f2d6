"""Where memories are kept: the protocols of a store, and a package for each database."""

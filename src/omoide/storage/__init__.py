"""Where memories are stored: the protocols of a store, and a package for each engine."""

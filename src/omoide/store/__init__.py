"""Where memories are kept: one protocol, one contract, a module for each database."""

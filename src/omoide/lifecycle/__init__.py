"""The lifecycle of memories: retention and deduplication, as pure plans from values to values."""

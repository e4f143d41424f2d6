"""Search: from a query to ranked memories, the same on every store."""

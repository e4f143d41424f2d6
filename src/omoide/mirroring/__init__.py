"""Keeping files and database in step, both ways: loaded only when a store has a mirror."""

"""Markdown formats of memories: each parsed and rendered by pure functions."""

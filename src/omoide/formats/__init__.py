"""Texts and values: each format parsed and rendered by pure functions."""

"""Permissions, validation and secrets: who may do what, and what must never be stored."""

"""Hooks of agents: recognise the client, read what it sends, answer in its format, and never fail it."""

"""Wiring of agent clients: what omoide writes into their settings files, and how it is removed again."""

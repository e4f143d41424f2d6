"""The ways in: each translates, calls one verb, and translates back."""

"""Who may do what, and what must never be kept."""

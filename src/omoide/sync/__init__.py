"""Two-way sync between Markdown files and the database; loaded only when a store has a mirror."""

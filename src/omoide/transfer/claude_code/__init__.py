"""Import from the memory of Claude Code."""

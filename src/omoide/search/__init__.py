"""Words and their order: what makes a memory findable, above every store."""

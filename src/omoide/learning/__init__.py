"""Learning from text: what a conversation asks to keep, and what can be drawn from it. Pure: texts in, candidates out."""

"""What happens around a task: the prompt before an agent starts, and what is kept when it has ended."""

"""Turn memories into text for a model: select, render, budget. Pure."""

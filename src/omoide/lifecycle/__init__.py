"""How memories age: pure plans of what upkeep would do, from values to values."""

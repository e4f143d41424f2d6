"""Google's multilingual sentence encoder (USE 3), computed with numpy."""

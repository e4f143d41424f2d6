"""The English sentence encoder all-MiniLM-L6-v2, computed with numpy."""

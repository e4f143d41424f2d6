"""Import, export and generated pages."""

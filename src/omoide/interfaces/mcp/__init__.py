"""The MCP server: agents use the memory through the Model Context Protocol, in its 2025 and 2026 versions."""

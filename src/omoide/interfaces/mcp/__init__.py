"""The MCP way in: agents remember and recall through the Model Context Protocol, in its 2025 and 2026 forms."""

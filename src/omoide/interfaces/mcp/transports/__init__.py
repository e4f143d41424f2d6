"""The transports of the MCP server: standard input and output, and streamable HTTP."""

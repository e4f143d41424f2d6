"""Transports of the MCP server: standard input and output, and streamable HTTP."""

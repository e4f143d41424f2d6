"""REST over HTTP: routes, their values, and the server that also offers MCP on the same port."""

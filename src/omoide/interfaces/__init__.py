"""The interfaces: each translates a request, calls the service, and translates the result."""

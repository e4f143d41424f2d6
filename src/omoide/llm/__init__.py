"""Language models: optional, off by default. Every caller has a fallback that works without one."""

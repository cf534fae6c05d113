"""Adapters, one module an agent host; each is an extra of the distribution."""

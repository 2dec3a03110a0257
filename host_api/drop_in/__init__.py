"""Stand-ins for the vendor's tools: programs under their names that the vendor's own builds and tests can call."""

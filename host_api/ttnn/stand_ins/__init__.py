"""Stand-ins for modules that tests of ttnn programs import."""

"""`python -m tensim.validation`: all validations at once."""

from tensim.cli.validate_all import main

main()

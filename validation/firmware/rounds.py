"""How often the programs of a shape run: what the library's Python launches, and the reader of its launches counts."""

ROUNDS, FIRST = 24, 8  # of a trace; the first that is counted: the ring of launch messages is full by then
# The same of matrix products: some wait for the path of another multicast, as the published mean shows
PRODUCTS, FIRST_PRODUCT = 24, 4


def distinct(shape):
    """Programs of a shape (its fields by name): one, and another where programs without run time follow it."""
    return 2 if shape["fast"] else 1


def launches(shape):
    """Launches of a shape: (those before its trace, those of a round)."""
    return distinct(shape), 1 + shape["fast"]

from sim.errors import UsageError


class BinaryError(UsageError):
    kind = "binary"


def detect_numbering(data):
    return "e2" if bytes(data[4:8]) == b"TSLM" else "late"


def verify_structure(data, numbering):
    return None


def verify_content(data, numbering):
    return []

"""Numbers that remember what they stand for: a buffer's address, a worker's NoC coordinate.

They are ordinary integers everywhere; as a runtime argument they let a recorded program be laid out anew for another chip.
Arithmetic gives plain integers.
"""

from typing import Self


class ReferenceInt(int):
    """`kind`: a tensim.sim.host.commands.Reference; `key`: the object's id, or x | y << 16 of a logical core."""

    kind: int
    key: int

    def __new__(cls, value: int, kind: int, key: int) -> Self:
        number = super().__new__(cls, value)
        number.kind, number.key = kind, key
        return number

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)

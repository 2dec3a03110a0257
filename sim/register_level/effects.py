"""What happens at places of a chip at cycles to come, in the order of cycles at each place."""

import heapq
import itertools


class Effects:
    """A heap of (cycle, order, function of the cycle) for each place, and which places are due when."""

    def __init__(self):
        self._order, self._at = itertools.count(), {}
        self._pending = []  # heap of (cycle, place), of some effects that have happened, too

    def at(self, place, cycle, effect):
        """Let something happen at a place: `effect(cycle)`."""
        heapq.heappush(self._at.setdefault(place, []), (cycle, next(self._order), effect))
        heapq.heappush(self._pending, (cycle, place))

    @property
    def due_at(self):
        """Cycle of the next effect, None when there is none."""
        while self._pending:
            cycle, place = self._pending[0]
            if self.next_at(place) == cycle:
                return cycle
            heapq.heappop(self._pending)  # it has happened
        return None

    def next_at(self, place):
        """Cycle of the next effect at a place, None when there is none."""
        effects = self._at.get(place)
        return effects[0][0] if effects else None

    def places_due(self, until):
        """Places at which something happens up to a cycle."""
        found = set()
        while self._pending and self._pending[0][0] <= until:
            found.add(heapq.heappop(self._pending)[1])
        return sorted(found)

    def happen(self, place, until):
        """Let happen what is due at a place up to a cycle."""
        effects = self._at.get(place, ())
        while effects and effects[0][0] <= until:
            cycle, _, effect = heapq.heappop(effects)
            effect(cycle)

    def remain_due(self, place, until):
        """A place that was due up to a cycle has not come so far: what is left there is due later."""
        for cycle, *_ in self._at.get(place, ()):
            if cycle <= until:
                heapq.heappush(self._pending, (cycle, place))

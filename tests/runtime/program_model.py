"""A plain model of what must come out of a random program.

It knows nothing of layouts, places, queues or times: it computes with numpy in the order of issue, follows failures from op to op,
and says which op must come before which.
"""

import re
from dataclasses import dataclass

import numpy as np

from tensim.runtime.errors import CommandFailed
from tests.runtime.program_runs import TIME_ERROR_NS, check_spans, drained, errors_of, starts
from tests.runtime.random_programs import FUNCTIONS, WRITING, values_of


@dataclass
class Known:
    """A tensor in the model: its values; the ops whose failure it suffers from; who wrote it last, who read it since."""

    values: object
    roots: frozenset = frozenset()
    writer: int | None = None
    readers: tuple = ()


class Model:
    """What must have come out of a run, given the op that a fault struck."""

    def __init__(self, run):
        self.run, self.tensors = run, {}
        self.failed = {}  # op -> ops that it may have failed with
        self.resident = {}  # uploaded constants: (tensor, values, wanted) -> ops whose failure they suffer from
        self.struck = _struck(run)
        for op, entry in zip(run.program.ops, run.entries, strict=True):
            if not entry.skipped:
                self._step(op, entry)

    def _step(self, op, entry):
        sources = [self.tensors[number] for number in op.sources]
        roots = frozenset().union(*(known.roots for known in sources), *(self.failed[number] for number in op.waits))
        if op.number in self.struck or (op.more.get("fails") and not roots):  # its conversions may be struck, too
            roots |= {op.number}
        if op.kind == "mismatch":
            return
        self._check_failure(op, entry, roots)
        self.failed[op.number] = roots
        if op.kind == "free":
            del self.tensors[op.target]
            return
        if op.is_alias:
            return
        self._check_order(op, entry, sources)
        for known in sources:
            known.readers = (*known.readers, op.number)
        if entry.raised is None and op.target is not None:
            self.tensors[op.target] = Known(self._values(op, sources), roots, None if op.kind == "new" else op.number)

    def _values(self, op, sources):
        if op.kind == "new":
            return values_of(op)
        if op.kind == "submit":
            return FUNCTIONS[op.more["function"]](*[known.values for known in sources])
        return sources[0].values if sources else np.zeros_like(self.tensors[op.target].values)

    def _check_failure(self, op, entry, roots):
        assert (entry.error is not None) == bool(roots), (op, entry.error, roots)
        if roots:
            assert self.root_of(entry.error) in roots, (op, entry.error, roots)
        ran = entry.event is not None and entry.event.t_start != entry.event.t_end
        assert not roots or op.number in roots or op.is_alias or not ran, (op, "ran although what it needs failed")

    def root_of(self, error):
        """The op that an error began with."""
        planned = re.search(r"planned by op(\d+)", error.where["root"])
        return int(planned[1]) if planned else _op_of(starts(error))

    def _check_order(self, op, entry, sources):
        """It began behind everything that it depends on."""
        if entry.event is None or entry.event.t_start is None or entry.event is self.run.system.origin:
            return
        before = [*op.waits, *(known.writer for known in sources)]
        if op.kind in WRITING or op.more.get("given"):
            known = self.tensors[op.target]
            before += [known.writer, *filter(self._read_while_it_ran, known.readers)]
        for number in before:
            earlier = None if number is None else self.run.entries[number].event
            if earlier is not None and earlier is not entry.event and number != op.number:
                assert earlier.t_end <= entry.event.t_start + TIME_ERROR_NS, (op, number)

    def _read_while_it_ran(self, number):
        """Whether the event of an op says when it read: not that of several commands, nor that of an upload, whose bytes are
        taken when it is issued.
        """
        spans = self.run.entries[number].spans
        return len(spans) == 1 and spans[0].kind != "upload"

    def check_values(self):
        """Every tensor that is alive has the values, or the failure, of the model."""
        for number, tensor in list(self.run.tensors.items()):
            known = self.tensors[number]
            try:
                found = tensor.numpy()
            except CommandFailed as error:
                assert self.root_of(error) in known.roots, (number, error, known.roots)
                continue
            assert not known.roots, (number, "its last writer failed")
            expected = np.broadcast_to(known.values, tensor.shape)
            np.testing.assert_array_equal(found.astype(np.int64), expected, err_msg=f"tensor {number}")


def _op_of(label):
    return int(re.search(r"op(\d+)", label)[1])


def _struck(run):
    """Ops that an injected fault struck: those with which a chain of failures by it begins."""
    return {_op_of(starts(error)) for error in errors_of(run) if error.where["root"].startswith("fault")}


def check(run):
    """The run is what the model says; times and queues are in order."""
    assert run.system.env.now <= run.system.host.now_fs  # I1
    drained(run)
    check_spans(run.system)
    if any(starts(error).startswith("upload op") for error in errors_of(run)):
        return  # a fault struck a constant on its way to a chip, which several ops share
    model = Model(run)
    model.check_values()

"""The Tensix engine's timing: unpack, math and pack threads, Dst sections
(docs/hardware/tensix.md#tensix-coprocessor and docs/hardware/tensix.md#cycles-per-tile).

The three compute threads of a core run concurrently.  They meet in two places only: SrcA/SrcB have two banks, so the
unpack thread is at most two tile pairs ("tokens") ahead of the math thread; Dst has one or two sections, handed from
math (acquire, commit) to pack (wait, release).  An operation on several tiles goes through them one event each.

A 32-bit tile that is unpacked into Dst itself takes no source bank.  The math thread owns the section, so the unpack thread
is not ahead at all: it begins when the math thread has come to the copy and the vector unit has drained.
"""

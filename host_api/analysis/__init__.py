"""What bounds a run and what to change: facts of its launches, a verdict, advice, and experiments that measure both.

Nothing here runs a program (`tensim.running.advising` does): verdicts come from what the engine has counted, experiments are
descriptions of a changed chip or program (docs/verdicts.md).
"""

"""A run with the files of `--tt-report` (`tensim.tool_files`)."""


def with_report(folder, work, on_progress, name=None):
    """What `work()`, which opens devices, returns as its `Result`; what it did is written into `folder`, if that is not None.

    `name`: of the program.  Texts for the user go to the result's warnings, what could not be written to "unwritten".
    """
    if folder is None:
        return work()
    from tensim.running.execution import Files
    from tensim.tool_files.recording import recording
    from tensim.tool_files.report import write_report

    with recording() as record:
        result = work()
    files = Files(on_progress)
    result.summary["warnings"] += files.write(folder, lambda: write_report(folder, record, name)) or []
    result.summary["unwritten"] += files.unwritten
    return result

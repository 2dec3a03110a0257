"""Files that users ask for: devices, pipes and links stay what they are, and what fails leaves the old file or none."""

import errno
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from tensim.sim import output_files
from tensim.sim.output_files import (
    output_file,
    output_path,
    remove_output,
    require_output,
    write_array,
    write_arrays,
    write_figure,
    write_output,
)

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def node(tmp_path):
    """A node of the device that swallows everything, of our own."""
    path = tmp_path / "node"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        with open(path, "wb"):
            pass
    except PermissionError:
        pytest.skip("only root makes device nodes, where the file system has them")
    return path


@pytest.fixture
def full(tmp_path):
    """A node of the device that is always full."""
    path = tmp_path / "full"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        with open(path, "wb"):
            pass
    except PermissionError:
        pytest.skip("only root makes device nodes, where the file system has them")
    return path


def read_in_background(path):
    """(thread, what it has read) of a reader of a pipe."""
    found = []
    thread = threading.Thread(target=lambda: found.append(path.read_bytes()))
    thread.start()
    return thread, found


def leftovers(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".tensim")]


def picture(path):
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([1, 2])
    write_figure(path, figure)


WRITERS = {
    "text": lambda path: write_output(path, "content"),
    "array": lambda path: write_array(path, np.arange(100_000)),
    "arrays": lambda path: write_arrays(path, a=np.arange(100_000), b=np.arange(3)),
    "picture": picture,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_device_stays_a_device(writer, node):
    WRITERS[writer](node)
    require_output(node)
    remove_output(node)
    assert stat.S_ISCHR(node.stat().st_mode)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_pipe_is_written_through(writer, tmp_path):
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    require_output(pipe)
    thread, found = read_in_background(pipe)
    WRITERS[writer](pipe)
    thread.join(30)
    WRITERS[writer](file)
    written = next(tmp_path.glob("file*")).read_bytes()
    assert (
        found and written and abs(len(found[0]) - len(written)) < 100
    )  # the parts of an archive have their sizes behind them
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_is_followed(tmp_path):
    real, link, chain = tmp_path / "real", tmp_path / "link", tmp_path / "folder" / "chain"
    chain.parent.mkdir()
    link.symlink_to("real")
    chain.symlink_to("../link")
    for content in ("first", "second"):  # it leads nowhere the first time
        require_output(chain)
        assert chain.is_symlink() and link.is_symlink()
        write_output(chain, content)
        assert real.read_text() == content and not real.is_symlink()
    remove_output(chain)
    assert chain.is_symlink() and link.is_symlink() and not real.exists()


def test_a_link_to_itself_is_an_error(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for action in (lambda path: write_output(path, "x"), require_output):
        with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
            action(tmp_path / "loop")


def test_a_file_keeps_its_mode_and_a_new_one_has_the_usual(tmp_path):
    usual, kept = tmp_path / "usual", tmp_path / "kept"
    kept.write_text("a long text that is replaced")
    kept.chmod(0o640)
    plain = tmp_path / "plain"
    plain.write_text("")
    for path in (usual, kept):
        write_output(path, "x")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640 and kept.read_text() == "x"
    assert usual.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("before", [None, "old"])
def test_what_fails_leaves_the_old_file_or_none(before, tmp_path):
    path = tmp_path / "file"
    if before is not None:
        path.write_text(before)
    with pytest.raises(ValueError), output_file(path) as file:
        file.write("half of")
        raise ValueError
    with pytest.raises(ValueError), output_path(path) as place:
        open(place, "w").close()
        raise ValueError
    assert (path.read_text() if path.exists() else None) == before and leftovers(tmp_path) == []


def test_a_full_disk_leaves_the_old_file(full, tmp_path, monkeypatch):
    """The temporary file lies on a full disk."""
    path = tmp_path / "file"
    path.write_text("old")
    (tmp_path / "temporary").symlink_to(full)
    monkeypatch.setattr(output_files, "_temporary", lambda target: str(tmp_path / "temporary"))
    with pytest.raises(OSError, match="No space left"):
        write_output(path, "x" * 100_000)
    assert path.read_text() == "old"


def test_a_full_device_is_an_error(full):
    with pytest.raises(OSError, match="No space left"):
        write_output(full, "x")
    assert stat.S_ISCHR(full.stat().st_mode)


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    for path, kind in ((tmp_path / "absent" / "file", FileNotFoundError), (tmp_path, IsADirectoryError)):
        for action in (lambda path: write_output(path, "x"), require_output):
            with pytest.raises(kind) as caught:
                action(path)
            assert caught.value.filename == str(path) or kind is FileNotFoundError
    assert leftovers(tmp_path) == []


@pytest.mark.skipif(IS_ROOT, reason="root may write everywhere")
def test_a_file_in_a_folder_that_cannot_be_written(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    tmp_path.chmod(0o500)
    try:
        require_output(path)
        write_output(path, "new")
        assert path.read_text() == "new"
        with pytest.raises(PermissionError):
            require_output(tmp_path / "other")
    finally:
        tmp_path.chmod(0o700)


def test_a_file_that_must_stay_in_its_place_gets_the_content(tmp_path, monkeypatch):
    """As a single file that a container mounts."""

    def busy(*paths):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(output_files.os, "replace", busy)
    write_output(path, "new")
    assert path.read_text() == "new" and leftovers(tmp_path) == []


def test_descriptors_of_the_process_are_written_through(tmp_path):
    code = "from tensim.sim.output_files import write_output\nprint('before', flush=True)\nwrite_output('/dev/stdout', 'content')"
    with open(tmp_path / "out", "a") as out:
        number = os.fstat(out.fileno()).st_ino
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").stat().st_ino == number and "content" in (tmp_path / "out").read_text()
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert piped.stdout == "before\ncontent"


# --- commands

RUN = ("run", "eltwise_add", "--shape", "64x64")
COMMANDS = {
    "capture": ("capture", "eltwise_add", "--shape", "64x64", "-o"),
    "json": (*RUN, "--json"),
    "examples": ("examples", "--json"),
}
SUFFIXED = {"timeline": ".json", "speedscope": ".json", "noc-trace": ".json", "html": ".html", "roofline": ".png"}


def tensim(*arguments, **how):
    command = [sys.executable, "-m", "tensim", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **how)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_replaces_a_device_or_a_link(command, node, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to("real.json")
    for path in (node, link):
        *arguments, last = COMMANDS[command]
        given = [f"{last}={path}"] if last == "--json" else [last, path]
        done = tensim(*arguments, *given)
        assert done.returncode == 0, done.stderr
    assert stat.S_ISCHR(node.stat().st_mode) and link.is_symlink() and (tmp_path / "real.json").stat().st_size


def test_all_files_of_a_run_follow_links(tmp_path):
    options = []
    for number, (name, suffix) in enumerate(SUFFIXED.items()):
        link = tmp_path / f"link{number}{suffix}"
        link.symlink_to(f"real{number}{suffix}")
        options += [f"--{name}", link]
    done = tensim(*RUN, *options)
    assert done.returncode == 0, done.stderr
    for link in tmp_path.glob("link*"):
        assert link.is_symlink() and link.resolve().stat().st_size, link
    assert leftovers(tmp_path) == []


def test_a_folder_follows_links_too(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("result.json", "configuration.yaml", "log.txt"):
        (folder / name).symlink_to(tmp_path / f"real-{name}")
        (tmp_path / f"real-{name}").write_text("of an earlier run")
    assert tensim(*RUN, "-o", folder).returncode == 0
    for name in ("result.json", "configuration.yaml", "log.txt"):
        text = (tmp_path / f"real-{name}").read_text()
        assert (folder / name).is_symlink() and text and "of an earlier run" not in text


# --- what is closed, full or too small


def test_a_disk_that_is_full_loses_no_report(full, tmp_path):
    """Of a run folder: what could not be written is named, everything else is there."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("configuration.yaml", "log.txt", "result.json"):
        (folder / name).symlink_to(full)
    done = tensim(*RUN, "-o", folder)
    assert done.returncode == 2 and "cycles" in done.stdout and "verified" in done.stdout
    for name in ("configuration.yaml", "log.txt", "result.json"):
        assert f"cannot write {folder / name}: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", ">&- 2>&-"])
def test_closed_streams_lose_nothing_else(closed, tmp_path):
    """No file that is opened later takes the place of a stream, and what is printed there hurts nothing."""
    target = tmp_path / "saved.bin"
    shell = f'"$@" {closed}'
    command = [sys.executable, "-m", "tensim", "capture", "eltwise_add", "--shape", "64x64", "-o", str(target)]
    done = subprocess.run(["bash", "-c", shell, "sh", *command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert tensim("verify", target).returncode == 0
    assert ("bytes in" in done.stdout) == (closed in ("2>&-", "<&-"))


def test_an_error_with_closed_streams_has_its_status(tmp_path):
    command = [sys.executable, "-m", "tensim", "run", "no_such_program"]
    done = subprocess.run(["bash", "-c", '"$@" 2>&-', "sh", *command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2


@pytest.mark.parametrize("megabytes", [300, 500])
def test_too_little_memory_is_said(megabytes):
    command = [sys.executable, "-m", "tensim", *RUN]
    shell = f'ulimit -v {megabytes * 1000}; "$@"'
    done = subprocess.run(["bash", "-c", shell, "sh", *command], capture_output=True, text=True, timeout=300)
    if done.returncode:
        assert "memory" in done.stderr and "Traceback" not in done.stderr and done.returncode in (1, 2)

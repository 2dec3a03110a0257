"""What a process may open: Landlock of the Linux kernel (5.13 and later), which needs no privileges.

A process that has entered a `Confinement` opens, executes and writes nothing but what lies in the folders named; its children
inherit that.  Where the kernel has no Landlock, or a container forbids it, `is_available` says so.
"""

import ctypes
import functools
import os
import struct
import sys
import threading

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls, the same on every architecture since 5.13
SET_NO_NEW_PRIVS = 38  # of prctl; without it an unprivileged process may not confine itself
VERSION, PATH_BENEATH = 1, 1  # flag of the first call; kind of a rule
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
READ = EXECUTE | READ_FILE | READ_DIR
# Kinds of access that each version of the interface knows, the kinds before included: of files, of the network, scopes
FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
NETWORK, SCOPES = {4: 3}, {6: 3}
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15  # kinds that a rule about a single file may have


def _call(number, *arguments):
    """A system call; OSError when it fails."""
    result = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


@functools.cache
def version():
    """The kernel's version of the interface, 0 without one."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return _call(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)
    except OSError:
        return 0


def _known(table):
    return next((kinds for since, kinds in sorted(table.items(), reverse=True) if since <= version()), 0)


class Confinement:
    """Folders and files, resolved: `readable`, whose programs may run as well, and `writable`.  What is not there is left out.

    A context manager; between its beginning and its end a process, or one that was forked, may `enter`.
    """

    def __init__(self, readable, writable=()):
        handled = _known(FILES)
        self._handled = struct.pack("QQQ", handled, _known(NETWORK), _known(SCOPES))
        self._rules = [(path, READ) for path in readable] + [(path, handled & ~EXECUTE) for path in writable]

    def __enter__(self):
        size = 24 if version() >= 6 else 16 if version() >= 4 else 8
        self._rules_of = _call(CREATE_RULESET, self._handled, ctypes.c_size_t(size), 0)
        for path, kinds in self._rules:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            try:
                rule = struct.pack("=Qi", kinds if os.path.isdir(path) else kinds & OF_FILES, place)
                _call(ADD_RULE, self._rules_of, PATH_BENEATH, rule, 0)
            finally:
                os.close(place)
        return self

    def __exit__(self, *exception):
        os.close(self._rules_of)

    def enter(self):
        """Confine the calling thread for good, and the processes that it starts."""
        library = ctypes.CDLL(None, use_errno=True)
        library.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _call(RESTRICT_SELF, self._rules_of, 0)


@functools.cache
def is_available():
    """Whether a confined thread really cannot open what it may not; tried once, in a thread that ends."""
    refused = []

    def attempt():
        try:
            with Confinement(()) as nothing:
                nothing.enter()
                os.close(os.open("/", os.O_RDONLY))
        except PermissionError:
            refused.append(True)
        except OSError:
            pass

    if version():
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    return bool(refused)

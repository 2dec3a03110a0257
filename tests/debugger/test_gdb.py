"""The GDB remote stub: its packets, driven by a small client, and gdb-multiarch where it is installed."""

import shutil
import socket
import subprocess
import sys
import threading

import pytest

from tensim.debugger.gdb_packets import Closed, Connection
from tensim.debugger.gdb_stub import TARGET, GdbStub
from tensim.debugger.locations import line_starts
from tensim.debugger.run import debug_program
from tensim.running.programs import Settings, run
from tensim.sim.cores.slots import BRISC, THREADS_PER_CORE


class Client:
    """The other side of a stub."""

    def __init__(self, stream):
        self.socket, self.connection = stream, Connection(stream)

    def ask(self, text):
        self.connection.send(text)
        return self.connection.receive()

    def console(self, text):
        """(console output, the packet behind it) that a packet leads to."""
        said, reply = "", self.ask(text)
        while reply.startswith("O") and reply != "OK":
            said, reply = said + bytes.fromhex(reply[1:]).decode(), self.connection.receive()
        return said, reply

    def registers(self):
        data = bytes.fromhex(self.ask("g"))
        return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


@pytest.fixture
def attached():
    """attached(program, kernel, **settings): a client, and a function that waits for (how the program ended, result, error)."""
    clients, threads = [], []

    def attached(program, kernel="taker.cpp", **settings):
        ours, theirs = socket.socketpair()
        ours.settimeout(60)
        outcome = []
        stub = GdbStub(lambda: Connection(theirs), kernel, lambda program: outcome.append(program))

        def work():
            try:
                outcome.append(debug_program(Settings(program, **settings), stub))
            except Exception as error:
                outcome.append(error)
                theirs.close()

        thread = threading.Thread(target=work)
        thread.start()
        clients.append(client := Client(ours))
        threads.append(thread)

        def end():
            thread.join(60)
            return outcome[-1]

        client.kernel = lambda: outcome[0]
        return client, end

    yield attached
    for client in clients:
        client.socket.close()
    for thread in threads:
        thread.join(60)


def address_of(program, file, line):
    """The first address of a line."""
    return 4 * min(min(rows) for (path, at), rows in line_starts(program).items() if path.endswith(file) and at == line)


def thread_number(x, y, slot=BRISC, columns=8):
    return (y * columns + x) * THREADS_PER_CORE + slot + 1


def test_what_the_stub_says_of_itself(program, attached):
    client, _ = attached(program)
    assert "QStartNoAckMode+" in client.ask("qSupported:multiprocess+") and client.ask("QStartNoAckMode") == "OK"
    client.connection.acknowledges = False
    number = f"{thread_number(1, 2):x}"
    assert client.ask("?").startswith(f"T05thread:{number};") and client.ask("qC") == f"QC{number}"
    assert client.ask("qfThreadInfo") == f"m{number}" and client.ask("qsThreadInfo") == "l"
    assert b"BRISC" in bytes.fromhex(client.ask(f"qThreadExtraInfo,{number}"))
    assert client.ask("qXfer:features:read:target.xml:0,ffff") == "l" + TARGET
    assert client.ask("qXfer:features:read:target.xml:10,8") == "m" + TARGET[16:24]
    assert (
        client.ask(f"T{number}") == "OK"
        and client.ask("T1") == "E01"
        and client.ask("Hg1") == "E01"
        and client.ask("Hg0") == "OK"
    )
    assert (
        client.ask("vMustReplyEmpty") == ""
        and client.ask("qTStatus") == ""
        and client.ask("vCont?").startswith("vCont")
    )


def test_breakpoints_steps_registers_and_memory(program, attached):
    client, end = attached(program)
    assert client.registers()[32] == 0
    pc = address_of(client.kernel(), "taker.cpp", 8)
    assert client.ask(f"Z0,{pc:x},4") == "OK" and client.ask("Z0,fffff0,4") == "E01" and client.ask("Z1,2,4") == "E01"
    assert "swbreak" in client.ask("c") and client.registers()[32] == pc
    assert client.ask("p20") == pc.to_bytes(4, "little").hex() and client.ask("p21") == "E01"
    client.ask(f"z0,{pc:x},4")
    assert client.ask("vCont;s:56").startswith("T05") and client.registers()[32] == pc + 4
    client.ask(f"Z0,{pc:x},4")
    client.ask("vCont;c")
    assert client.ask("m19c00,4") == (17).to_bytes(4, "little").hex()  # the second page
    assert (
        client.ask(f"m{pc:x},4") == client.kernel().image.text[pc : pc + 4].hex() and client.ask("mfff00000,4") == "E01"
    )
    assert client.ask("M19c00,4:2a000000") == "OK" and client.ask("m19c00,1") == "2a" and client.ask("M0,1:00") == "E01"
    stack = client.registers()[2]
    assert client.ask(f"M{stack:x},2:0102") == "OK" and client.ask(f"m{stack:x},2") == "0102"
    assert client.ask("P5=04030201") == "OK" and client.registers()[5] == 0x01020304
    assert "in use" not in bytes.fromhex(client.ask("qRcmd," + b"cbs".hex())).decode()
    assert b"error" in bytes.fromhex(client.ask("qRcmd," + b"continue".hex()))
    client.ask(f"z0,{pc:x},4")
    assert client.ask("c") == "W00"
    assert end()[0] == "ended"


def test_cycles_are_those_of_a_run_without_gdb(program, attached):
    client, end = attached(program)
    pc = address_of(client.kernel() if client.ask("?") else None, "taker.cpp", 8)
    client.ask(f"Z0,{pc:x},4")
    for _ in range(3):
        assert client.ask("c").startswith("T05")
        client.ask("s")
    assert client.ask("c") == "W00"
    assert end()[1].cycles == run(program).cycles


def test_a_watched_word(program, attached):
    client, _ = attached(program)
    assert client.ask("Z2,19c00,4") == "OK" and client.ask("Z2,19400,4") == "E01"
    assert client.ask("c").startswith("T05") and client.ask("m19c00,1") == "11" and client.ask("z2,19c00,4") == "OK"


def test_a_deadlock_is_said_at_the_console(program, attached):
    client, end = attached(program, parameters={"taken": 4})
    said, reply = client.console("c")
    assert "waits at" in said and "cb_wait_front(0, 1)" in said and reply.startswith("T06")
    assert client.registers()[32] > 0 and client.ask("c") == "X06"
    ended, _, error = end()
    assert ended == "failed" and error.kind == "deadlock"


def test_all_cores_stop_at_one_breakpoint_while_each_steps_over_it(attached):
    settings = {"shape": "64x64", "grid": "2x2", "parameters": {"kernels": "cpp"}}
    client, end = attached("eltwise_add", "read_pairs.cpp", **settings)
    assert client.ask("qfThreadInfo").count(",") == 3
    pc, stopped = address_of(client.kernel(), "read_pairs.cpp", 22), []
    client.ask(f"Z0,{pc:x},4")
    reply = client.ask("c")
    while reply.startswith("T05"):
        thread = reply.split(":")[1].split(";")[0]
        if "swbreak" in reply:
            stopped.append(thread)
            client.ask(f"z0,{pc:x},4")  # as gdb does: out, a step of this thread, in again
            reply = client.ask(f"vCont;s:{thread}")
            client.ask(f"Z0,{pc:x},4")
            if "swbreak" in reply:
                continue
        reply = client.ask("vCont;c")
    assert reply == "W00" and len(stopped) == 4 and len(set(stopped)) == 4
    assert end()[1].cycles == run("eltwise_add", **settings).cycles


def test_detaching_lets_the_program_end_and_closing_leaves_it(program, attached):
    client, end = attached(program)
    assert client.ask("D") == "OK" and end()[0] == "ended"
    client, end = attached(program)
    client.ask("?")
    client.socket.close()
    assert end()[0] == "left"


def test_a_kernel_has_to_be_chosen_among_several(program, attached):
    for kernel, said in (
        (None, "which kernel"),
        ("nothing.cpp", "no C++ kernel nothing.cpp"),
        ("taker.cpp:TRISC0", "no C++ kernel"),
    ):
        _, end = attached(program, kernel)
        assert said in str(end())


def test_a_loop_without_end_is_interrupted(program, attached):
    program.with_name("taker.cpp").write_text(
        '#include "dataflow_api.h"\nvoid kernel_main() {\n    get_arg_val<uint32_t>(0);\n    while (1) {\n    }\n}\n'
    )
    client, _ = attached(program)
    client.ask("?")
    client.connection.send("c")
    client.socket.sendall(b"\x03")
    assert client.connection.receive().startswith("T02")


def test_damaged_packets_are_asked_for_again():
    ours, theirs = socket.socketpair()
    ours.sendall(b"+$g#00$m0,4#fd")
    assert Connection(theirs).receive() == "m0,4" and ours.recv(9) == b"-+"
    Connection(theirs).send("}#$*")
    assert ours.recv(99).startswith(b"$}]}\x03}\x04}\n#")
    ours.close()
    with pytest.raises(Closed):
        Connection(theirs).receive()


@pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="gdb-multiarch is not installed")
def test_gdb_shows_source_lines_and_variables(program):
    command = [sys.executable, "-m", "tensim", "debug", program, "--gdb", "0", "--kernel", "taker.cpp"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        elf, _, remote = line.split("gdb-multiarch ")[1].partition(" -ex ")
        steps = "break taker.cpp:8", "continue", "backtrace", "print sum", "next", "info threads", "delete", "continue"
        steps = remote.strip().strip("'"), *steps
        gdb = ["gdb-multiarch", "-nx", "-batch", elf, *(word for step in steps for word in ("-ex", step))]
        done = subprocess.run(gdb, capture_output=True, text=True, timeout=60)
        assert process.wait(60) == 0, done.stdout
    finally:
        process.kill()
        process.stderr.close()
    assert "kernel_main () at" in done.stdout and "taker.cpp:8" in done.stdout and "(1,2) BRISC" in done.stdout
    assert "exited normally" in done.stdout

"""The demo's processes: started again when they die, stopped in order, never left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from signalbox.demo import ports
from signalbox.demo.supervisor import Child, Supervisor

WAITS = "import time; print('up', flush=True); time.sleep(60)"
SLOW_TO_STOP = """
import signal, sys, time
def stop(*_):
    time.sleep(0.3)
    print('drained at', time.monotonic(), flush=True)
    sys.exit()
signal.signal(signal.SIGTERM, stop)
print('up', flush=True)
while True: time.sleep(60)
"""
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(['sleep', '60'])
print('up', child.pid, flush=True)
time.sleep(60)
"""
FAILS = "import sys; sys.exit(3)"


def _child(name: str, code: str, *, stage: int = 0, grace: float = 10) -> Child:
    return Child(name=name, command=(sys.executable, "-c", code), stage=stage, grace=grace)


@contextmanager
def _watching(supervisor: Supervisor) -> Iterator[None]:
    stop = Event()
    supervisor.start()
    watcher = Thread(target=supervisor.watch, args=(stop,), kwargs={"each": lambda: None})
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        supervisor.stop(Event())


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervise(tmp_path, said) -> Callable[..., Supervisor]:
    def made(*children: Child) -> Supervisor:
        return Supervisor(
            children=children,
            environment=dict(os.environ),
            folder=tmp_path,
            logs=tmp_path / "logs",
            say=said.append,
        )

    return made


def _wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def _log(supervisor: Supervisor, name: str) -> str:
    return supervisor.log(name).read_text() if supervisor.log(name).exists() else ""


def test_a_killed_child_is_started_again_and_a_person_is_told(supervise, said):
    supervisor = supervise(_child("worker", WAITS))
    with _watching(supervisor):
        _wait_until(lambda: _log(supervisor, "worker"))
        killed = supervisor.pids()["worker"]
        os.kill(killed, signal.SIGKILL)

        _wait_until(lambda: _log(supervisor, "worker").count("up") == 2)

        assert supervisor.pids()["worker"] != killed
        assert any("killed by SIGKILL" in line and str(killed) in line for line in said)


def test_a_child_that_keeps_dying_is_started_later_and_later(supervise, said):
    supervisor = supervise(_child("broken", FAILS))
    with _watching(supervisor):
        _wait_until(lambda: sum("status 3" in line for line in said) >= 2)

    tries = [line for line in said if "next try in" in line]
    assert "in 1 s" in tries[0]
    assert "in 3 s" in tries[1]
    assert str(supervisor.log("broken")) in tries[0]


def test_workers_drain_while_what_they_need_still_answers(supervise):
    supervisor = supervise(
        _child("provider", SLOW_TO_STOP, stage=0), _child("worker", SLOW_TO_STOP, stage=1)
    )
    with _watching(supervisor):
        _wait_until(lambda: _log(supervisor, "provider") and _log(supervisor, "worker"))

    drained = {name: float(_log(supervisor, name).split()[-1]) for name in ("provider", "worker")}
    assert drained["worker"] < drained["provider"]


def test_a_child_that_outstays_its_grace_is_killed_with_its_children(supervise, said):
    supervisor = supervise(_child("stubborn", STUBBORN, grace=0.2))
    with _watching(supervisor):
        _wait_until(lambda: _log(supervisor, "stubborn"))
    grandchild = int(_log(supervisor, "stubborn").split()[1])

    assert not _alive(supervisor.pids()["stubborn"])
    _wait_until(lambda: not _alive(grandchild))
    assert any("did not stop in time" in line for line in said)


def test_a_second_request_to_stop_ends_every_grace(supervise):
    supervisor = supervise(_child("stubborn", STUBBORN, grace=60))
    supervisor.start()
    _wait_until(lambda: _log(supervisor, "stubborn"))
    hurry = Event()
    hurry.set()

    began = time.monotonic()
    supervisor.stop(hurry)

    assert time.monotonic() - began < 10


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
def test_children_do_not_outlive_a_killed_supervisor(tmp_path):
    code = f"""
from pathlib import Path
from threading import Event
import os, sys
from signalbox.demo.supervisor import Child, Supervisor
child = Child(name="c", command=(sys.executable, "-c", {WAITS!r}), stage=0)
folder = Path({str(tmp_path)!r})
one = Supervisor(children=[child], environment=dict(os.environ), folder=folder,
                 logs=folder, say=print)
one.start()
print(one.pids()["c"], flush=True)
one.watch(Event(), each=lambda: None)
"""
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert _alive(child)

        process.kill()

        _wait_until(lambda: not _alive(child))


def test_a_taken_port_is_passed_over():
    with socket.socket() as taken:
        taken.bind((ports.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]

        assert ports.free(port) > port


def test_a_port_whose_connections_are_still_closing_is_free():
    with socket.create_server((ports.HOST, 0)) as server:  # reuses addresses, as gunicorn does
        port = server.getsockname()[1]
        with socket.create_connection((ports.HOST, port)), server.accept()[0] as accepted:
            accepted.shutdown(socket.SHUT_RDWR)  # the server's side closes first: TIME_WAIT

    assert ports.free(port) == port

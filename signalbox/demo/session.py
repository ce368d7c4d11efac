"""One session of the demo, from the empty folder to the last process that stops."""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import os
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from urllib.parse import quote

from django.core.management import call_command
from django.db import DatabaseError, connections

from signalbox.demo import banner, children, ports, seed
from signalbox.demo.supervisor import Supervisor
from signalbox.embedded import errors, places, services

WEB_PORT = 8000
PROVIDER_PORT = 8940
READY_SECONDS = 90.0
REVIVE_SECONDS = 5.0
LOOK_SECONDS = 2.0
QUICK = {
    "RUNS_LEASE_SECONDS": "10",
    "RUNS_HEARTBEAT_SECONDS": "2",
    "RUNS_LEASE_MARGIN_SECONDS": "2",
    "APPROVALS_NOTICE_GATHER_MINUTES": "0",
}
"""Nobody wants to wait half a minute for the takeover from a worker they have just killed, nor a
minute for a mail."""

Say = Callable[[str], None]


class DemoError(Exception):
    """The demo cannot go on."""


def run(state: Path, folder: Path, *, first_port: int, say: Say, progress: Say) -> None:
    """Have the demo running until SIGINT, SIGTERM or SIGHUP; then stop it in order.

    `say` gets what a person should read, `progress` what only somebody who waits wants to know.
    Raises DemoError, an EmbeddedError or NoFreePort.
    """
    with only_one(state), _signals() as (stop, hurry):
        progress("Starting the database and the broker")
        _start_services(state)
        progress("Preparing the tables, the people and the first runs")
        call_command("migrate", verbosity=0, interactive=False)
        seed.seed()
        connections.close_all()
        web, provider = ports.free(first_port), ports.free(PROVIDER_PORT)
        if web != first_port:
            say(f"Port {first_port} is taken or not allowed; the pages are on port {web}.")
        supervisor = Supervisor(
            children=children.all_of_them(state, provider_port=provider, web_port=web),
            environment=_environment(state, web=web, provider=provider),
            folder=folder,
            logs=state / "logs",
            say=say,
        )
        rounds = _Rounds(state, web, provider, supervisor, say)
        try:
            progress("Starting the processes")
            supervisor.start()
            supervisor.watch(stop, each=rounds.next)
        finally:
            progress("Stopping: workers finish their step (Ctrl-C again: at once)")
            supervisor.stop(hurry)


def reset(state: Path) -> bool:
    """Remove all that the demo has stored; False if there is nothing. Raises DemoError."""
    if not state.exists():
        return False
    if not _mark(state).exists() and places.postgres(state).exists():
        raise DemoError(
            f"{state} was not begun by the demo, so it is left alone."
            f" If nobody needs it, remove it yourself: rm -r {state}"
        )
    services.remove(state)
    return True


def _mark(state: Path) -> Path:
    """Says that the demo made this state folder's database, and may remove it."""
    return state / "demo"


def _start_services(state: Path) -> None:
    begun_here = not places.postgres(state).exists()
    if begun_here:
        _mark(state).touch()
    services.use(state, database=True, broker=True)


def mails(state: Path) -> Path:
    """The folder into which the demo writes mails instead of sending them."""
    return (state / "mails").resolve()


def _environment(state: Path, *, web: int, provider: int) -> dict[str, str]:
    signed_with = secrets.token_hex(32)
    return (
        QUICK
        | {"EMAIL_URL": f"filemail:///{quote(str(mails(state)))}"}
        | dict(os.environ)
        | places.environment(state)
        | {
            "DJANGO_SETTINGS_MODULE": "signalbox.settings",
            "FAKEPAY_URL": f"http://{ports.HOST}:{provider}",
            "FAKEPAY_WEBHOOK_SECRET": signed_with,
            "LEDGER_HOOK_SECRETS": json.dumps({"fakepay": [signed_with]}),
            "LANGGRAPH_STRICT_MSGPACK": "true",
            "PYTHONUNBUFFERED": "1",
            "SIGNALBOX_DEMO": "1",
            "SIGNALBOX_URL": f"http://localhost:{web}",
            "WEB_BIND": f"{ports.HOST}:{web}",
        }
    )


@dataclass(slots=True)
class _Rounds:
    """What is looked at again and again while the demo runs."""

    state: Path
    web: int
    provider: int
    supervisor: Supervisor
    say: Say
    announced: bool = False
    began: float = field(default_factory=time.monotonic)
    revived: float = field(default_factory=time.monotonic)
    followed_up: bool = False
    looked: float = field(default_factory=time.monotonic)

    def next(self) -> None:
        if not self.announced:
            self._announce()
        if not self.followed_up and time.monotonic() - self.looked > LOOK_SECONDS:
            self._follow_up()
            self.looked = time.monotonic()
        if time.monotonic() - self.revived > REVIVE_SECONDS:
            self._revive()
            self.revived = time.monotonic()

    def _announce(self) -> None:
        """Print the banner once pages are served."""
        if _answers(self.web):
            self.announced = True
            self.say(
                banner.text(
                    web=f"http://localhost:{self.web}",
                    provider=f"http://localhost:{self.provider}",
                    pids=self.supervisor.pids(),
                    logs=self.supervisor.logs,
                    mails=mails(self.state),
                )
            )
        elif time.monotonic() - self.began > READY_SECONDS:
            raise DemoError(
                f"No page was served within {READY_SECONDS:.0f} s."
                f" Read {self.supervisor.log('web')} and start again."
            )

    def _follow_up(self) -> None:
        try:
            self.followed_up = seed.follow_up()
        except DatabaseError:
            pass  # it is being revived: then next time
        finally:
            connections.close_all()

    def _revive(self) -> None:
        """Start a database or broker again that somebody has killed."""
        try:
            services.use(self.state, database=True, broker=True)
        except errors.EmbeddedError as error:
            self.say(str(error))


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(ports.HOST, port, timeout=10)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/accounts/login/")
            return connection.getresponse().status < 500
        except OSError:
            return False


@contextlib.contextmanager
def only_one(state: Path) -> Iterator[None]:
    """One demo to a state folder. Raises DemoError if there is one already."""
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (state / "demo.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DemoError(
                "The demo runs here already. Stop it with Ctrl-C in its terminal, or set"
                " SIGNALBOX_STATE to another folder for a second one."
            ) from error
        yield


@contextlib.contextmanager
def _signals() -> Iterator[tuple[Event, Event]]:
    """The first signal asks to stop, the second to hurry."""
    stop, hurry = Event(), Event()

    def asked(*_: object) -> None:
        (hurry if stop.is_set() else stop).set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, asked) for number in numbers}
    try:
        yield stop, hurry
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

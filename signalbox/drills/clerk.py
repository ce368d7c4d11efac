"""A process of people who decide: it posts verdicts, all at once, and may die while it does.

Imported once by the fork server, so that such a process is ready in a few milliseconds.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from uuid import UUID

import django

django.setup()

from django.db import connections  # noqa: E402  (only now are the apps loaded)

from accounts.actors import Actor  # noqa: E402
from accounts.models import User  # noqa: E402
from approvals import decisions, errors  # noqa: E402
from signalbox.drills import arming  # noqa: E402


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """One form that one person sends."""

    request_id: UUID
    user_id: int
    verdict: str
    seen_digest: str
    token: str
    value: object = None
    at: float = 0.0
    """When it is sent, in seconds since the epoch; past: at once."""


def main(pipe: Connection, folder: Path, ballots: tuple[Ballot, ...]) -> None:
    """Post all of them at the same moment; send what each was told."""
    arming.install(folder)
    together = threading.Barrier(len(ballots))
    with ThreadPoolExecutor(len(ballots)) as people:
        pipe.send(list(people.map(lambda ballot: _sent(ballot, together), ballots)))


def _sent(ballot: Ballot, together: threading.Barrier) -> str:
    try:
        actor = Actor.person(User.objects.get(pk=ballot.user_id), entry="page")
        together.wait(30)
        time.sleep(max(0.0, ballot.at - time.time()))
        return post(ballot, actor)
    finally:
        connections.close_all()


def post(ballot: Ballot, actor: Actor) -> str:
    """What the person is told: decided, repeated, voted, or the name of the refusal."""
    try:
        outcome = decisions.decide(
            ballot.request_id,
            actor=actor,
            verdict=ballot.verdict,
            value=ballot.value,
            comment="The drill says no." if ballot.verdict == "rejected" else "",
            seen_digest=ballot.seen_digest,
            token=ballot.token,
        )
    except errors.ApprovalsError as refusal:
        return type(refusal).__name__
    if outcome.repeated:
        return "repeated"
    return "decided" if outcome.decided else "voted"

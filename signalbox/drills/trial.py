"""One trial: one run of one play, with the hands that a play needs. Runs in a thread of its own.

An operator stands by in every wait: once a run is parked for an effect in doubt, it is settled by
what the provider's books say.
"""

from __future__ import annotations

import os
import random
import signal
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from django.db import transaction

from accounts.actors import Actor
from ledger import errors as ledger_errors
from ledger import settle
from runs import admission
from signalbox.drills import arming, clerk, clerks, evidence, expectations
from signalbox.drills.clerk import Ballot
from signalbox.drills.scene import Scene
from signalbox.drills.watch import Doubt, Question, View

T = TypeVar("T")

SHELL = Actor.command("drill")
PATIENCE = 90.0
"""Seconds that anything may take; recovery takes a few."""
TAKEOVER = 25.0
"""Seconds in which a frozen driver must have been taken over: the database itself ends frozen
transactions after 30, which must not pass for Signalbox's doing."""


class Stuck(Exception):
    """What the play waits for does not happen."""


@dataclass(slots=True, kw_only=True)
class Trial:
    """The state of one trial, and what may be done in it."""

    scene: Scene
    drill: str
    guard: str
    """Who prevents a second performance: PROVIDER, LOOKUP or LEDGER."""
    number: int
    rng: random.Random
    agent: str = ""
    run_id: UUID = field(default_factory=lambda: UUID(int=0))
    trouble: list[str] = field(default_factory=list)
    """What went wrong that a checker could not see afterwards."""
    verdicts: dict[str, str] = field(default_factory=dict)
    """Questions that were decided, with the verdict if the play knows which one must stand."""
    outdated: list[str] = field(default_factory=list)
    """Questions of which no answer may have reached the run."""

    @property
    def order(self) -> str:
        return f"{self.drill}/{self.guard}/{self.number}"

    @property
    def folder(self) -> Path:
        return self.scene.folder

    def choose(self, *variants: T) -> T:
        """Another variant in each trial."""
        return variants[self.number % len(variants)]

    # --- doing ------------------------------------------------------------------------------------

    def start(self, agent: str, armed: Mapping[str, Sequence[str]] | None = None) -> None:
        """Admit a run; its points are armed before anybody can drive it."""
        self.agent = agent
        given = {"guard": self.guard, "order_id": self.order}
        with transaction.atomic():
            self.run_id = admission.start(f"drill_{agent}", given, actor=SHELL).pk
            for point, lines in (armed or {}).items():
                self.arm(point, *lines)
        self.scene.watch.add(self.run_id)

    def arm(self, point: str, *lines: str) -> None:
        arming.arm(self.folder, self.run_id, point, *lines)

    def change_words(self) -> None:
        """From now on the second question of a pair is asked in other words."""
        arming.say(self.folder, self.run_id, expectations.TODAY)

    def decide(self, question: Question, verdict: str) -> None:
        """Ben decides, and is told that he did."""
        ballot = self.ballot(question, verdict)
        self.verdicts[question.text] = verdict
        told = clerk.post(ballot, Actor.person(self.scene.ben, entry="page"))
        if told != "decided":
            self.trouble.append(f"{verdict} on “{question.text}” was answered with {told}")

    def post(self, *ballots: Ballot) -> list[str] | None:
        """Have a process of its own send these at once; None: it died."""
        return clerks.post(self.folder, ballots)

    def ballot(
        self,
        question: Question,
        verdict: str,
        *,
        by: str = "ben",
        token: str = "",
        at: float = 0.0,
    ) -> Ballot:
        person = {"ben": self.scene.ben, "bea": self.scene.bea}[by]
        self.verdicts.setdefault(question.text, "")
        return Ballot(
            request_id=question.id,
            user_id=person.pk,
            verdict=verdict,
            seen_digest=question.digest,
            token=token or uuid.uuid4().hex,
            value={"seen": question.text} if expectations.by_name(self.agent) else None,
            at=at,
        )

    def expected(self) -> evidence.Expected:
        """What the run should have come to."""
        return expectations.expected(
            self.agent, self.order, str(self.run_id), self.verdicts, self.outdated
        )

    def unreached(self) -> list[str]:
        """Armed points that nobody came to, so that nothing was proved."""
        left = arming.armed(self.folder, self.run_id)
        return [f"the point {point} was not reached" for point in left if point != "driver.taken"]

    # --- waiting ----------------------------------------------------------------------------------

    def asks_to_refund(self) -> Question:
        """Wait for the question whose approval the refund needs."""
        return self._question(expectations.refund(self.order))

    def asks_to_tell(self, words: str = "") -> Question:
        """Wait for the second question, which allows nothing."""
        return self._question(expectations.tell(self.order, words))

    def _question(self, text: str) -> Question:
        view = self.see(lambda view: text in [each.text for each in view.questions], f"asks {text}")
        return next(each for each in view.questions if each.text == text)

    def ends(self) -> None:
        """Wait until the run has ended and nobody holds its lease."""
        self.see(lambda view: view.ended, "ends")

    def held(self, point: str) -> None:
        """Wait until a process is held at this point."""
        self.see(lambda _: self._mark(point, "held") is not None, f"is held at {point}")

    def let_go(self, point: str) -> None:
        arming.let_go(self.folder, self.run_id, point)

    def see(self, happened: Callable[[View], object], what: str, within: float = PATIENCE) -> View:
        """Wait until the run is seen like this. Raises Stuck."""
        until = time.monotonic() + within
        while True:
            view = self.scene.watch.view(self.run_id)
            if view is not None:
                if happened(view):
                    return view
                for doubt in view.doubts if view.park else ():
                    self._settle(doubt)
            if time.monotonic() > until or self.scene.watch.problem:
                words = view.words if view else "never seen"
                raise Stuck(
                    self.scene.watch.problem
                    or f"within {within:.0f} s the run was not seen that {what}: {words}"
                )
            self.scene.watch.wait(until)

    def _mark(self, point: str, name: str) -> int | None:
        return arming.mark(self.folder, self.run_id, point, name)

    def _settle(self, doubt: Doubt) -> None:
        """Ada looks at the provider.

        She says that it did not happen only when nothing can be under way any more: the time of
        the call is up, or the process that made it is dead.
        """
        reference = self.scene.books.refund_of(doubt.order)
        under_way = self.scene.books.busy_with(doubt.order)
        if reference is None and (under_way or not (doubt.late or not _lives(doubt.caller))):
            return
        ada = Actor.person(self.scene.ada, entry="page", authenticated_at=datetime.now(UTC))
        with suppress(ledger_errors.NotInDoubt):  # a late answer came first
            if reference:
                settle.settle(
                    doubt.uid,
                    "happened",
                    actor=ada,
                    reason="The provider has it.",
                    reference=reference,
                    result={"id": reference},
                )
            else:
                settle.settle(
                    doubt.uid, "did_not_happen", actor=ada, reason="The provider has nothing."
                )

    # --- a driver that is frozen ------------------------------------------------------------------

    @contextmanager
    def frozen(self, point: str) -> Iterator[Callable[[], None]]:
        """Inside: a driver sleeps at `point` and another one has taken over.

        Gives what wakes it up and waits until it has let go of the run. It is woken in any case.
        """
        self.see(lambda _: self._mark(point, "stopped") is not None, f"stops at {point}")
        pid = self._mark(point, "stopped") or 0
        try:
            self.see(lambda view: _taken_from(view, pid), "is taken over", within=TAKEOVER)
            yield lambda: self._wake(point, pid)
        finally:
            _continue(pid)

    def _wake(self, point: str, pid: int) -> None:
        _continue(pid)
        self.see(
            lambda _: self._mark(point, "over") is not None or not _lives(pid),
            "is let go of by the driver that was frozen",
        )


def _taken_from(view: View, pid: int) -> bool:
    """Whether a later attempt than the last one of this process has begun."""
    own = [fence for fence, holder in view.attempts if holder.endswith(f":{pid}")]
    return bool(own) and view.attempts[-1][0] > own[-1]


def _continue(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

"""The people: Ben and Bea answer questions, Ada does what an operator does to parked runs.

1. What a person will say to a request is written down before they say it: an answer names exactly
   the question it is for and a random number. So a person's process can be killed at any moment;
   the next one says the same.
2. Bea answers some of the questions as well, with another answer: one of the two is too late.
3. Some answers are sent twice, some once more in a new form; some come late.
"""

from __future__ import annotations

import contextlib
import random
import time
from uuid import UUID

from django.contrib.auth.models import Group
from django.db import connection
from django.db.models import F, QuerySet

from accounts import groups
from accounts.actors import Actor
from accounts.models import User
from approvals import decisions, errors
from approvals.models import Request
from ledger import sweep as ledger_sweep
from runs import controls, status
from runs import errors as runs_errors
from runs.models import Run
from tests.chaos import record

APPROVERS = {"Ben": 1.0, "Bea": 0.25}
"""And how probable it is that they answer a question."""
LATEST = 1.5
"""Seconds after a question was seen until most answers; one in ten takes twice as long."""
MOMENT = 0.4
"""Seconds between answers that are given together."""
PAUSE = 0.05
QUIET = 20.0
"""Seconds without any change after which what has not ended is taken for stuck."""

OPEN = """
SELECT r.id, r.run_id, r.payload ->> 'question' AS question, c.style, c.number
  FROM approvals_request r JOIN chaos_run c ON c.run = r.run_id
 WHERE r.status = 'pending'
   AND NOT EXISTS (SELECT FROM chaos_ballot b WHERE b.request = r.id AND b.person = %(person)s)
"""
PLAN = """
INSERT INTO chaos_ballot
       (request, person, run, question, verdict, value, comment, token, due, outcome)
VALUES (%(request)s, %(person)s, %(run)s, %(question)s, %(verdict)s, %(value)s, %(comment)s,
        %(token)s, clock_timestamp() + make_interval(secs => %(delay)s), %(outcome)s)
"""
DUE = """
SELECT * FROM chaos_ballot
 WHERE person = %(person)s AND outcome IS NULL AND due <= clock_timestamp()
"""
SAID = """
UPDATE chaos_ballot SET outcome = %(outcome)s, again = %(again)s
 WHERE request = %(request)s AND person = %(person)s
"""


def prepare() -> None:
    """Make the three people."""
    for name, group in (
        *((name, groups.APPROVER) for name in APPROVERS),
        ("Ada", groups.OPERATOR),
    ):
        user = User.objects.create_user(f"{name.lower()}@chaos.example", first_name=name)
        user.groups.add(Group.objects.get(name=group))


def _actor(name: str) -> Actor:
    return Actor.person(User.objects.get(first_name=name), entry="page")


# --- approvers -----------------------------------------------------------------------------------


def answer_for_ever(name: str, seed: int) -> None:
    """Answer every question that there is, as this person."""
    person = _Approver(name=name, seed=seed)
    while True:
        person.look()
        time.sleep(PAUSE)


class _Approver:
    def __init__(self, *, name: str, seed: int) -> None:
        self.name, self.seed, self.actor = name, seed, _actor(name)

    def look(self) -> None:
        side = record.connect()
        for row in side.execute(OPEN, {"person": self.name}).fetchall():
            side.execute(PLAN, self._plan(row))
        for row in side.execute(DUE, {"person": self.name}).fetchall():
            self._say(row)

    def _plan(self, row: dict[str, object]) -> dict[str, object]:
        rng = random.Random(f"{self.seed}/{self.name}/{row['id']}")  # noqa: S311 (what people say)
        nonce = f"{rng.getrandbits(64):016x}"
        value = None if row["style"] == "bare" else f'{{"to": "{row["question"]}", "n": "{nonce}"}}'
        of_run = random.Random(f"{self.seed}/{row['run_id']}")  # noqa: S311 (what people do)
        if of_run.random() < 0.5:  # all questions of this run at about the same time
            delay = of_run.uniform(0, LATEST) + rng.uniform(0, MOMENT)
        else:
            delay = rng.uniform(0, LATEST) * (2.0 if rng.random() < 0.1 else 1.0)
        return {
            "request": row["id"],
            "person": self.name,
            "run": row["run_id"],
            "question": row["question"],
            "verdict": _verdict(row, rng),
            "value": value,
            "comment": f"{row['question']} {nonce}",
            "token": nonce,
            "delay": delay,
            "outcome": None if rng.random() < APPROVERS[self.name] else "abstains",
        }

    def _say(self, row: dict[str, object]) -> None:
        outcome = self._decide(row, str(row["token"]))
        again = ""
        how = random.Random(str(row["token"])).random()  # noqa: S311 (what people say)
        if outcome == "accepted" and how < 0.2:
            again = self._decide(row, str(row["token"]))
        elif outcome == "accepted" and how < 0.3:
            again = self._decide(row, f"{row['token']}-new")
        if outcome != "Busy":  # tried again in the next round
            said = {"request": row["request"], "person": self.name}
            record.connect().execute(SAID, said | {"outcome": outcome, "again": again})

    def _decide(self, row: dict[str, object], token: str) -> str:
        """`accepted`, or the name of the error with which the verdict was refused."""
        request = Request.objects.get(pk=str(row["request"]))
        try:
            decisions.decide(
                request.pk,
                actor=self.actor,
                verdict=str(row["verdict"]),
                value=row["value"],
                comment=str(row["comment"]),
                seen_digest=request.digest,
                token=token,
            )
        except errors.ApprovalsError as refusal:
            return type(refusal).__name__
        return "accepted"


def _verdict(row: dict[str, object], rng: random.Random) -> str:
    """A bare answer says only yes or no, so neighbouring questions of a run get different ones."""
    if row["style"] == "bare":
        ordinal = int(str(row["question"]).rpartition(":")[2])
        return "rejected" if (int(str(row["number"])) // 2 + ordinal) % 2 else "approved"
    return "approved" if rng.random() < 0.75 else "rejected"


# --- the operator ---------------------------------------------------------------------------------

ALLOWED = (status.Park.BAD_ANSWER, status.Park.CRASH_LOOP)
"""Why runs may be parked here; each of them goes on after what Ada does."""
CHANGES = """
SELECT (SELECT last_value FROM chaos_order), (SELECT sum(fence) FROM runs_lease),
       (SELECT count(outcome) FROM chaos_ballot), (SELECT sum(wakes) FROM runs_run)
"""


def operate(seed: int, until: float) -> None:
    """Send parked runs on, until every run has ended, nothing changes, or the time is up."""
    ada = _actor("Ada")
    last, since = None, time.monotonic()
    swept = 0.0
    while time.monotonic() < until:
        if not Run.objects.filter(status__in=status.LIVE).exists():
            return
        for run in _parked():
            _send_on(run, ada, seed)
        if time.monotonic() - swept > 1:
            swept = time.monotonic()
            ledger_sweep.sweep()
        now = record.connect().execute(CHANGES).fetchone()
        if now != last:
            last, since = now, time.monotonic()
        if time.monotonic() - since > QUIET:
            return
        time.sleep(0.1)


def _parked() -> QuerySet[Run]:
    """Those that nobody has sent on yet."""
    return Run.objects.filter(
        status=status.Status.PARKED, park_reason__in=ALLOWED, wakes=F("seen_wakes")
    )


def _send_on(run: Run, ada: Actor, seed: int) -> None:
    rng = random.Random(f"{seed}/{run.pk}/{_fence(run.pk)}")  # noqa: S311 (what people do)
    bad = run.park_reason == status.Park.BAD_ANSWER
    act = controls.ask_again if bad and rng.random() < 0.5 else controls.retry
    with contextlib.suppress(runs_errors.RunsError):  # it has gone on meanwhile
        act(run.pk, actor=ada, reason=str(run.park_reason))


def _fence(run_id: UUID) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT fence FROM runs_lease WHERE run_id = %s", [run_id])
        return int(cursor.fetchone()[0])

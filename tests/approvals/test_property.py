"""Whatever people, clocks, operators and crashes do to a run, each question gets its own verdict.

A story is a sequence of steps that happen to one run, which the real driver drives on the real
database; the sweeper then brings it to its end. After each verdict a model of the rules, kept as
simple as possible, says what should have become of it. At the end:

1. every request has one terminal state, which agrees with its decision, and never had another
2. a question took effect once; what its node heard last is that answer, and goes into the output
3. no node heard an answer that was given to another question, or that was given up before
4. every vote is by somebody who was permitted when it was given
5. the audit log has one entry for each verdict and each refusal, each intervention and each end

PROPERTY_EXAMPLES=2000 tells more stories; a failure prints how to tell it again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, Phase, event, given, note, settings
from hypothesis import strategies as st

from accounts import clock
from accounts import errors as accounts_errors
from accounts.actors import Actor
from accounts.models import User
from approvals import decisions
from approvals.errors import ApprovalsError
from approvals.models import Decision, Request, Vote
from audit.models import Entry
from runs import (
    admission,
    checkpoints,
    controls,
    dispatch,
    driver,
    errors,
    killpoints,
    status,
    sweeper,
)
from runs.heartbeat import Heart
from runs.models import Lease, Pulse, Run
from tests.approvals.hearing import EARS, SHAPES, STYLES
from tests.support import caches
from tests.support.people import person

EXAMPLES = int(os.environ.get("PROPERTY_EXAMPLES", "20"))
PEOPLE = ("ben", "eve", "olga", "ada", "dee", "fay", "gus")
"""Ben and Eve may decide. Ada starts the runs; Olga intervenes. Dee may nothing, Fay is of another
group, and Gus has left."""
MAY = {"ben", "eve", "olga", "ada"}
BEFORE = ("driver.taken", "driver.before_read", "driver.before_call")
WITHIN = ("driver.handed_over", "saver.put", "saver.put_writes", "saver.wrote", "doorbell")
VERBS = {"refused": "decision.refused", "voted": "decision.voted", "decided": "decision.made"}
SWEEPS = 40
"""Within which every story has come to its end."""


class Killed(BaseException):
    """The process died here."""


# --- what can happen ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Look:
    """A worker looks at the run (again), or the sweeper does and its bells are heard (twice)."""

    how: str = "drive"
    dies: str = ""
    """Where the process dies, if anywhere."""
    nth: int = 1
    """And the how manieth time it is there."""


@dataclass(frozen=True, slots=True)
class Decide:
    who: str
    verdict: str
    nth: int
    """Which of the run's requests, the newest first."""
    digest: str = "shown"
    token: str = "new"
    dies: str = ""
    """Where the process that takes the verdict dies, if anywhere."""
    then: Look | None = None
    """Who hears the bell."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The deadline of a request passes."""

    nth: int


@dataclass(frozen=True, slots=True)
class Act:
    """An operator's intervention."""

    name: str
    who: str


@dataclass(frozen=True, slots=True)
class Trip:
    """The node that next takes the answer to this question raises."""

    question: str
    passing: bool


def weighted(**often: int) -> st.SearchStrategy[str]:
    return st.sampled_from([name for name, times in often.items() for _ in range(times)])


NTH = st.sampled_from((0, 0, 0, 1, 1, 2))
LOOK = st.builds(
    Look,
    how=weighted(drive=4, sweep=2, sweep_twice=1),
    dies=st.sampled_from((*("",) * 5, *BEFORE, *WITHIN * 2)),
    nth=st.sampled_from((1, 1, 1, 2, 3)),
)
DECIDE = st.builds(
    Decide,
    who=weighted(ben=5, eve=5, olga=2, ada=2, dee=1, fay=1, gus=1),
    verdict=weighted(approved=3, rejected=1),
    nth=NTH,
    digest=weighted(shown=8, stale=1),
    token=weighted(new=6, again=3, none=1),
    dies=st.sampled_from(("", "", "", "doorbell")),
    then=st.booleans().flatmap(lambda heard: LOOK if heard else st.none()),
)
TRIP = st.builds(Trip, question=st.sampled_from(("q1", "q2", "q3")), passing=st.booleans())
ACT = st.builds(
    Act,
    name=weighted(ask_again=4, force_resume=3, retry=2, cancel=1),
    who=weighted(olga=3, ada=1),
)
STEPS = {"decide": DECIDE, "look": LOOK, "trip": TRIP, "act": ACT, "pass": st.builds(Pass, nth=NTH)}
STEP = weighted(decide=6, look=2, trip=2, act=2, **{"pass": 1}).flatmap(STEPS.__getitem__)


@dataclass(frozen=True, slots=True)
class Story:
    shape: str
    style: str
    quorum: int
    on_deadline: str
    steps: list[Any]
    help: str
    """How an operator helps a run that is parked at the end."""


STORIES = st.builds(
    Story,
    shape=st.sampled_from(sorted(SHAPES)),
    style=st.sampled_from(STYLES),
    quorum=st.sampled_from((1, 1, 2)),
    on_deadline=weighted(reject=3, park=3, read_only=1, cancel=1),
    steps=st.lists(STEP, min_size=4, max_size=14),
    help=st.sampled_from(("ask_again", "retry")),
)


# --- the world in which it happens ----------------------------------------------------------------


@dataclass(slots=True)
class World:
    """One run, the people around it, and what the model knows of them."""

    run_id: UUID
    quorum: int
    people: dict[str, User]
    rung: list[UUID]
    nonces: dict[tuple[UUID, str], str] = field(default_factory=dict)
    """What each verdict on each request carries; nothing else carries the same."""
    tokens: dict[str, str] = field(default_factory=dict)
    """The last form that each person has sent."""
    hands: set[str] = field(default_factory=lambda: {"ada"})
    """Who started the run or intervened in it."""
    ends: dict[UUID, str] = field(default_factory=dict)
    """The terminal state in which each request was first seen."""
    dies: str = ""
    """The place where the present process dies."""
    left: int = 0
    """How many times it still comes there."""
    dead: bool = False

    def run(self) -> Run:
        return Run.objects.get(pk=self.run_id)

    def requests(self) -> list[Request]:
        """The newest first."""
        found = Request.objects.filter(run_id=self.run_id).select_related("decision")
        return list(found.order_by("-created_at", "-pk"))

    def actor(self, who: str) -> Actor:
        return Actor.person(self.people[who], entry="page", authenticated_at=clock.now())

    # --- processes that may die -------------------------------------------------------------------

    def reach(self, place: str, _: str) -> None:
        """The hook at every place. A dead process reaches nothing more."""
        if place == self.dies:
            self.left -= 1
            self.dead = self.dead or self.left <= 0
        if self.dead:
            raise Killed(place)

    def process(self, act: Callable[[], object], dies: str = "", nth: int = 1) -> bool:
        """Let a process do this; whether it survived. What it held it holds no longer."""
        self.dies, self.left = dies, nth
        try:
            act()
        except Killed as death:
            note(f"    died at {death}")
            event(f"died at {death}")
            lease = Lease.objects.filter(pk=self.run_id, expires_at__gt=clock.now())
            lease.update(expires_at=clock.now())
            return False
        finally:
            self.dies, self.dead = "", False
        return True

    def look(self, look: Look) -> None:
        self.rung.clear()
        if look.how == "drive":
            self.rung.append(self.run_id)
        elif self.process(sweeper.sweep):
            assert Pulse.objects.get(name="sweeper").note["failed"] == []
        if look.how == "sweep_twice":
            self.process(sweeper.sweep)
        for run_id in [each for each in self.rung if each == self.run_id]:
            drive = partial(driver.drive, run_id, holder=f"w-{uuid4().hex}", cause="test")
            self.process(drive, look.dies, look.nth)


# --- each step ------------------------------------------------------------------------------------


def happen(world: World, step: Any) -> None:
    note(f"  {step}")
    match step:
        case Decide():
            decide(world, step)
            if step.then is not None:
                world.look(step.then)
        case Pass(nth):
            if (request := _nth(world, nth)) is not None:
                Request.objects.filter(pk=request.pk).update(deadline=clock.now())
        case Act(name, who):
            intervene(world, name, who)
        case Look():
            world.look(step)
        case Trip(question, passing):
            error: type[Exception] = ConnectionError if passing else ValueError
            EARS.trips[question] = error("raised by the story")
    for request in world.requests():
        if request.status != "pending":
            first = world.ends.setdefault(request.pk, request.status)
            assert first == request.status, "a request left its terminal state"


def _nth(world: World, nth: int) -> Request | None:
    found = world.requests()
    return found[nth % len(found)] if found else None


def decide(world: World, step: Decide) -> None:
    """Give a verdict, and compare what became of it with what the model says."""
    request = _nth(world, step.nth)
    if request is None:
        return
    token = {"new": uuid4().hex, "none": "", "again": world.tokens.get(step.who, uuid4().hex)}
    world.tokens[step.who] = token[step.token] or world.tokens.get(step.who, uuid4().hex)
    value = None
    if request.shape == "ours":
        value = world.nonces.setdefault((request.pk, step.verdict), uuid4().hex)
    wanted = expected(world, request, step, token[step.token])
    told = _told(world, step.who, request)
    got: list[object] = []

    def send() -> None:
        try:
            outcome = decisions.decide(
                request.pk,
                actor=world.actor(step.who),
                verdict=step.verdict,
                value=value,
                comment="because",
                seen_digest=request.digest if step.digest == "shown" else "0" * 64,
                token=token[step.token],
            )
        except (ApprovalsError, accounts_errors.AccountsError) as refusal:
            note(f"    {type(refusal).__name__}")
            got.append("refused")
        else:
            got.append(
                ("repeated", "voted", "decided")[0 if outcome.repeated else _weight(outcome)]
            )

    event(f"verdict {wanted}")
    survived = world.process(send, step.dies)
    assert got == [wanted] or not survived
    # A late verdict makes the request expire, and is written down with that, whoever dies then.
    new = [] if wanted == "repeated" else [(VERBS[wanted], wanted != "refused")]
    assert _told(world, step.who, request) == told + new


def _weight(outcome: decisions.Outcome) -> int:
    return 2 if outcome.decided else 1


def expected(world: World, request: Request, step: Decide, token: str) -> str:
    """What the rules say about a verdict that is given now."""
    user = world.people[step.who]
    before = Vote.objects.filter(user=user, token=token).first()
    if token and before is not None:
        return "repeated" if before.request_id == request.pk else "refused"
    run = world.run()
    usable = (
        token
        and step.who in MAY
        and (step.verdict == "rejected" or step.who not in world.hands)
        and request.status == "pending"
        and run.cancel_asked_at is None
        and not run.ended
        and clock.now() < request.deadline
        and not Vote.objects.filter(user=user, request=request).exists()
        and step.digest == "shown"
    )
    if not usable:
        return "refused"
    agreed = Vote.objects.filter(request=request, verdict="approved").exclude(
        user__in=[world.people[who].pk for who in world.hands]
    )
    enough = step.verdict == "rejected" or agreed.count() + 1 >= world.quorum
    return "decided" if enough else "voted"


def _told(world: World, who: str, request: Request) -> list[tuple[str, bool]]:
    """What the log says that this person did to this request."""
    found = Entry.objects.filter(
        run_id=world.run_id,
        target_id=str(request.pk),
        actor_kind="user",
        actor_id=str(world.people[who].pk),
        verb__startswith="decision.",
    )
    return list(found.order_by("pk").values_list("verb", "allowed"))


def intervene(world: World, name: str, who: str) -> None:
    before = Entry.objects.filter(run_id=world.run_id, target_kind="run").count()
    done: list[bool] = []

    def act() -> None:
        try:
            done.append(True)
            getattr(controls, name)(world.run_id, actor=world.actor(who), reason="a story")
        except errors.RunsError:
            done[:] = [False]

    world.process(act)
    if done == [True] and name != "cancel":
        world.hands.add(who)
    assert Entry.objects.filter(run_id=world.run_id, target_kind="run").count() == before + 1


# --- the end --------------------------------------------------------------------------------------


def finish(world: World, story: Story) -> None:
    """Nothing goes wrong any more: the sweeper alone brings the run to its end."""
    EARS.trips.clear()
    for _ in range(SWEEPS):
        world.look(Look("sweep"))
        run = world.run()
        if run.ended:
            return
        if run.status == status.Status.PARKED:
            event(f"parked for {run.park_reason}")
            asks = run.park_reason == "deadline" or (
                run.park_reason == "bad_answer" and story.help == "ask_again"
            )
            intervene(world, "ask_again" if asks else "retry", "olga")
        open_ = [request for request in world.requests() if request.status == "pending"]
        for request in open_:
            nth = world.requests().index(request)
            for who in ("ada", "olga", "ben", "eve"):  # the first two perhaps in vain
                happen(world, Decide(who, "approved", nth))
    raise AssertionError(f"the run did not end: {world.run().status} {world.run().park_reason}")


def check(world: World, story: Story) -> None:
    run = world.run()
    requests = world.requests()
    if run.status == status.Status.FAILED:
        check_failure(run)
    else:
        assert run.status == ("cancelled" if run.cancel_asked_at else "succeeded"), run.error
    for request in requests:
        check_request(request)
    took = {}
    heard = EARS.of(run.pk)
    for question in SHAPES[story.shape]:
        asked = [each for each in requests if question_of(each) == question]
        took[question] = check_question(asked, heard.get(question, []), run)
    assert set(heard) <= set(took)
    if run.status == status.Status.SUCCEEDED:
        assert run.output is not None
        assert sorted(run.output["log"]) == sorted([q, got] for q, got in took.items())
    check_votes(world)


def check_failure(run: Run) -> None:
    """Only a node that raises at an answer which took effect before fails the run: running again
    for its next question, it can be asked neither of them anew."""
    assert (run.error_class, run.error) == ("ValueError", "raised by the story")
    tripped = [question for run_id, question in EARS.tripped if run_id == run.pk]
    found = Decision.objects.filter(
        request__run=run, request__title=tripped[-1], delivery="took_effect"
    )
    assert found.count() == 1


def question_of(request: Request) -> str:
    asked: str = request.payload["question"]
    return asked


def check_request(request: Request) -> None:
    """One terminal state, one entry that says so, and a decision of the same word."""
    decision = getattr(request, "decision", None)
    has: dict[str, set[str | None]] = {
        "approved": {"approved"},
        "rejected": {"rejected"},
        "expired": {"expired", None},
    }
    assert (decision and decision.verdict) in has.get(request.status, {None})
    assert request.status != "pending"
    closing = ["request.superseded", "request.withdrawn", "request.expired"]
    ends = Entry.objects.filter(target_id=str(request.pk), verb__in=closing)
    made = Entry.objects.filter(target_id=str(request.pk), verb="decision.made")
    assert made.count() == (decision is not None)
    by_people = request.status in ("approved", "rejected")
    told = [] if by_people else [f"request.{request.status}"]
    assert list(ends.values_list("verb", flat=True)) == told
    if decision is not None:
        assert decision.delivery in ("took_effect", "not_delivered")
        assert decision.digest == request.digest
        verb = "delivered" if decision.delivery == "took_effect" else "not_delivered"
        event(f"an answer {verb}, handed over {decision.deliveries} times")
        arrived = Entry.objects.filter(target_id=str(request.pk), verb=f"decision.{verb}")
        assert arrived.count() == 1


def check_question(requests: list[Request], heard: list[Any], run: Run) -> Any:
    """Returns what took effect; heard: what the node got at each of its visits."""
    decided = Decision.objects.filter(request__in=requests).order_by("at")
    given = [(_as_heard(decision), decision.delivery) for decision in decided]
    took = [answer for answer, delivery in given if delivery == "took_effect"]
    assert len(took) <= 1, "two answers took effect"
    spells = [got for got, _ in groupby(heard)]
    # An answer is replaced only by a later decision, and never comes back. Of a bare question one
    # cannot tell the yes of one decision from that of the next.
    answers = [answer for answer, _ in groupby(answer for answer, _ in given)]
    assert _in_order(spells, answers), f"heard {spells}, decided {answers}"
    if run.status != status.Status.SUCCEEDED:
        return took[0] if took else None
    assert len(took) == 1, "the question was not answered"
    assert spells[-1] == took[0]
    return took[0]


def _as_heard(decision: Decision) -> Any:
    if isinstance(decision.answer, dict):
        return [decision.answer["decision"], decision.answer["value"]]
    return decision.answer


def _in_order(some: list[Any], all_: list[Any]) -> bool:
    """Whether `some` is `all_` with perhaps some left out."""
    rest = iter(all_)
    return all(any(one == other for other in rest) for one in some)


def check_votes(world: World) -> None:
    """By whom the model permits: nobody without the right, and no approval by the requester."""
    names = {user.pk: name for name, user in world.people.items()}
    votes = Vote.objects.filter(request__run_id=world.run_id)
    for vote in votes:
        assert names[vote.user_id] in MAY
        assert (vote.verdict, names[vote.user_id]) != ("approved", "ada")


# --- the test -------------------------------------------------------------------------------------


@pytest.fixture
def people(transactional_db: None) -> dict[str, User]:
    return {
        "ben": person("Ben", "finance"),
        "eve": person("Eve", "finance", "approver"),
        "olga": person("Olga", "finance", "approver", "operator"),
        "ada": person("Ada", "finance", "approver"),
        "dee": person("Dee", "finance"),
        "fay": person("Fay", "approver"),
        "gus": person("Gus", "finance", "approver", is_active=False),
    }


@pytest.fixture
def rung(settings, monkeypatch) -> Iterator[list[UUID]]:
    """Who the sweeper rang for; nothing waits, and every cache is as at the start."""
    heard: list[UUID] = []

    def ring_now(run_id: UUID, *, cause: str, to: str = "") -> bool:
        heard.append(run_id)
        return True

    monkeypatch.setattr(dispatch, "ring_now", ring_now)
    # These drives are shorter than a lease; a heart would keep its connection for ever.
    monkeypatch.setattr(Heart, "_ensure_thread", lambda _: None)
    settings.RUNS_BACKOFF = timedelta(0)
    settings.RUNS_AGENTS = [
        {"name": name, "graph": f"tests.approvals.hearing.{name}", "version": "1"}
        for name in SHAPES
    ]
    caches.forget()
    yield heard
    killpoints.install(None)
    EARS.heard.clear()
    checkpoints.close()
    caches.forget()


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(0)
@given(story=STORIES)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=False,
    print_blob=True,
    phases=set(Phase) - {Phase.explain},  # which would take minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_happens_each_question_gets_its_own_verdict_once(rule, rung, people, story):
    rule(quorum=story.quorum, on_deadline=story.on_deadline)
    EARS.heard.clear()
    EARS.trips.clear()
    killpoints.install(None)
    ada = Actor.person(people["ada"], entry="page")
    run = admission.start(story.shape, {"style": story.style}, actor=ada)
    world = World(run_id=run.pk, quorum=story.quorum, people=people, rung=rung)
    killpoints.install(world.reach)
    world.look(Look())
    for step in story.steps:
        happen(world, step)
    finish(world, story)
    event(f"the run {world.run().status}")
    check(world, story)

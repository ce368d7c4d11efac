"""Retention over all layers, with runs that the real driver has driven to their end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import RunControl

from accounts import clock
from accounts.actors import Actor
from approvals import ask
from approvals.models import Decision, Request, Vote
from audit import seal, verify
from audit.models import Entry
from ledger import registry, reserve, retention
from ledger.keys import Intent
from ledger.models import Effect, EffectAttempt, Idempotency, Incident
from ledger.outcomes import Outcome
from ledger.tools import effect
from runs import admission, authority, checkpoints, driver, killpoints, status
from runs.authority import Authority
from runs.heartbeat import Heart
from runs.models import Erasure, Lease, Run
from runs.retention import passes
from tests.approvals.conftest import approve, now
from tests.support import caches, child
from tests.support import graphs as support
from tests.support.people import person
from tests.support.processes import until, worker
from tests.support.web import text_of

SHELL = Actor.command("test")
SECRET = "Zanzibar-4711"
DAY = timedelta(days=1)
KINDS = ("history", "states", "runs", "effects", "requests")
AGES = (
    "RUNS_KEEP_HISTORY",
    "RUNS_KEEP_STATES",
    "RUNS_KEEP_PAYLOADS",
    "LEDGER_KEEP_PAYLOADS",
    "APPROVALS_KEEP_PAYLOADS",
)
PERFORMED: list[str] = []


class State(TypedDict, total=False):
    secret: str
    log: Annotated[list[Any], add]


@pytest.fixture(autouse=True)
def clean(monkeypatch, transactional_db, settings) -> Iterator[None]:
    # These drives are shorter than a lease; a heart would keep its connection for ever.
    monkeypatch.setattr(Heart, "_ensure_thread", lambda _: None)
    monkeypatch.setattr(registry, "_tools", dict(registry._tools))
    for name in AGES:
        setattr(settings, name, DAY)
    PERFORMED.clear()
    caches.forget()
    with connection.cursor() as cursor:  # LangGraph's tables are not emptied between tests
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            cursor.execute(f"DELETE FROM {table}")  # noqa: S608 (ours)
    yield
    killpoints.install(None)
    caches.forget()


@pytest.fixture(scope="module", autouse=True)
def connections_end(django_db_setup: None) -> Iterator[None]:
    yield
    checkpoints.close()


@pytest.fixture
def start(settings, monkeypatch):
    """Start a run that pays and asks about a secret, and drive it to its question."""

    @effect("vault.pay", idempotency=Idempotency.LEDGER)
    def pay(about: str) -> Outcome:
        """Pay."""
        PERFORMED.append(about)
        return Outcome.success("re_1", {"about": about})

    def work(state: State) -> State:
        paid = pay(about=state["secret"])
        args = {"about": f"more {state['secret']}"}
        asked = ask(
            f"Pay {state['secret']}?",
            tool="vault.pay",
            args=args,
            facts={"what": state["secret"]},
            why=state["secret"],
        )
        return {"log": [paid, pay(**args) if asked else None]}

    def inner(state: State) -> State:
        return {"log": [state["secret"]]}

    child = StateGraph(State)
    child.add_node("inner", inner)
    child.add_edge(START, "inner")
    builder = StateGraph(State)
    builder.add_node("work", work)
    builder.add_node("child", child.compile())
    builder.add_edge(START, "work")
    builder.add_edge("work", "child")
    builder.add_edge("child", END)
    monkeypatch.setattr(support, "vault", builder.compile(), raising=False)
    settings.RUNS_AGENTS = [
        {
            "name": "vault",
            "graph": "tests.support.graphs.vault",
            "version": "1",
            "title": "About {secret}",
        }
    ]
    caches.forget()

    def start() -> Run:
        run: Run = admission.start("vault", {"secret": SECRET}, actor=SHELL)
        drive(run)
        return run

    return start


@pytest.fixture
def ended(start, ben):
    """A run that was approved, ended, and ended two days ago."""

    def ended() -> Run:
        run: Run = start()
        approve(Request.objects.get(run=run), ben)
        drive(run)
        age(run)
        assert now(run).status == "succeeded"
        return run

    return ended


def drive(run: Run) -> None:
    driver.drive(run.pk, holder="w1", cause="test")


def age(run: Run, by: timedelta = 2 * DAY) -> None:
    Run.objects.filter(pk=run.pk).update(ended_at=now(run).ended_at - by)


def apply(**more: Any) -> dict[str, passes.Done]:
    return passes.apply(actor=SHELL, **more)


def everything(run: Run) -> dict[str, list[str]]:
    """All rows about this run, as text."""
    found = {}
    with connection.cursor() as cursor:
        for table, column in (
            ("runs_run", "id"),
            ("runs_lease", "run_id"),
            ("runs_attempt", "run_id"),
            ("effects", "run_id"),
            ("approvals_request", "run_id"),
            ("checkpoints", "thread_id"),
            ("checkpoint_blobs", "thread_id"),
            ("checkpoint_writes", "thread_id"),
            ("runs_erasure", "run_id"),
        ):
            cursor.execute(
                f"SELECT t::text FROM {table} t WHERE t.{column}::text = %s ORDER BY 1",  # noqa: S608
                [str(run.pk)],
            )
            found[table] = [row[0] for row in cursor.fetchall()]
    return found


def places_of(secret: str) -> set[str]:
    """The tables that have it anywhere, also in what they keep as bytes."""
    found = set()
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(
                f'SELECT EXISTS (SELECT FROM "{table}" t WHERE t::text ILIKE ANY (%s))',  # noqa: S608
                [[f"%{secret}%", f"%{secret.encode().hex()}%"]],
            )
            if cursor.fetchone()[0]:
                found.add(table)
    return found


# --- what goes ------------------------------------------------------------------------------------


def test_nothing_of_a_secret_is_left_and_the_log_is_intact(ended) -> None:
    run = ended()
    seal.seal()
    before = places_of(SECRET)
    assert {"runs_run", "effects", "approvals_request", "checkpoint_writes"} <= before
    gone = apply()
    assert {kind: done.runs for kind, done in gone.items()} == dict.fromkeys(KINDS, 1)
    assert places_of(SECRET) <= {"ledger_message", "approvals_notice"}, (
        "these have an age of their own"
    )
    seal.seal()
    assert verify.verify().ok
    assert now(run).status == "succeeded"


def test_tombstones_stay(ended) -> None:
    run = ended()
    kept = list(
        Effect.objects.order_by("pk").values_list(
            "idempotency_key", "status", "args_hash", "provider_ref", "attempts", "permit"
        )
    )
    asked = Request.objects.values("digest", "args_hash", "status", "tool", "groups").get()
    decided = Decision.objects.values("verdict", "decider", "digest", "at").get()
    apply()
    assert kept == list(
        Effect.objects.order_by("pk").values_list(
            "idempotency_key", "status", "args_hash", "provider_ref", "attempts", "permit"
        )
    )
    assert Request.objects.values("digest", "args_hash", "status", "tool", "groups").get() == asked
    assert Decision.objects.values("verdict", "decider", "digest", "at").get() == decided
    assert Vote.objects.get().value is None
    assert {each.kind for each in Erasure.objects.filter(run=run)} == set(KINDS)
    for each in Effect.objects.all():
        assert (retention.is_erased(each), each.undo) == (True, "")
        assert (each.result, each.error) == (None, retention.RESULT_ERASED)


def test_a_result_that_was_erased_never_makes_a_second_call(ended) -> None:
    """As if somebody had woken the run again by hand: its head is gone, but its keys are not."""
    run = ended()
    apply(only="effects")
    lease = Lease.objects.get(pk=run.pk)
    Run.objects.filter(pk=run.pk).update(status="running", ended_at=None)
    Lease.objects.filter(pk=run.pk).update(expires_at=clock.now() + DAY)
    mine = authority.Lease(run_id=run.pk, fence=lease.fence, holder=lease.holder)
    for each in Effect.objects.all():
        tool = registry.find(each.tool)
        intent = Intent(
            key=each.idempotency_key,
            step=each.step,
            tool_name=each.tool,
            tool=tool,
            args={},
            args_hash=each.args_hash,
            authority=Authority(lease=mine, agent="vault", deadline=1e12, control=RunControl()),
        )
        told = reserve.take(intent, lambda _: False)
        assert isinstance(told, reserve.Told)
        assert (told.standing.result, told.standing.result_cut) == (None, True)
    assert len(PERFORMED) == 2


def test_pages_of_what_was_erased_still_open(ended, client) -> None:
    run = ended()
    apply()
    client.force_login(person("Vi", "admin", "finance", "operator", "auditor"))
    pages = [
        reverse("runs:run", args=[run.pk]),
        reverse("approvals:review", args=[Request.objects.get().pk]),
        reverse("approvals:inbox") + "?view=decided",
        reverse("ledger:list"),
        *(reverse("ledger:effect", args=[each.uid]) for each in Effect.objects.all()),
    ]
    assert "Erased because the run ended long ago: earlier checkpoints" in text_of(
        client.get(pages[0], follow=True)
    )
    for page in pages:
        response = client.get(page, follow=True)
        assert response.status_code == 200, page
        assert SECRET not in response.content.decode(), page


# --- what stays -----------------------------------------------------------------------------------


def test_nothing_of_a_run_that_has_not_ended_changes(start, ended) -> None:
    waiting, queued = start(), admission.start("vault", {"secret": "other"}, actor=SHELL)
    parked = start()
    Run.objects.filter(pk=parked.pk).update(status="parked", park_reason=status.Park.CRASH_LOOP)
    running = start()
    Run.objects.filter(pk=running.pk).update(status="running")
    ended()
    others = (waiting, queued, parked, running)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runs_run SET created_at = created_at - interval '90 days'")
    before = [everything(each) for each in others]
    assert apply()
    assert [everything(each) for each in others] == before


def test_what_ended_lately_stays(ended) -> None:
    run = ended()
    age(run, -2 * DAY)
    before = everything(run)
    assert apply() == {}
    assert everything(run) == before


@pytest.mark.parametrize("trouble", ["in_doubt", "unheard", "incident"])
def test_a_run_of_which_something_is_unsettled_is_kept_whole(ended, trouble) -> None:
    run = ended()
    one = Effect.objects.filter(run=run).first()
    assert one is not None
    if trouble == "incident":
        Incident.objects.create(kind=Incident.Kind.DUPLICATE, run=run, effect=one)
    elif trouble == "in_doubt":
        Effect.objects.filter(pk=one.pk).update(status="in_doubt")
    else:
        Effect.objects.filter(pk=one.pk).update(status="pending")
        EffectAttempt.objects.filter(effect=one).update(outcome="unknown")
    before = everything(run)
    assert apply() == {}
    assert everything(run) == before


def test_a_run_whose_lease_somebody_holds_is_left(ended) -> None:
    run = ended()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runs_lease SET expires_at = clock_timestamp() + interval '1 minute'")
    assert apply() == {}
    assert not Erasure.objects.filter(run=run).exists()


def test_the_way_goes_and_the_last_state_stays(ended, settings) -> None:
    run = ended()
    for name in AGES[1:]:
        setattr(settings, name, None)
    (due,) = passes.due()
    assert apply()["history"].rows == due.rows > 0
    found = everything(run)
    assert len(found["checkpoints"]) == 1
    assert SECRET in now(run).title


# --- passes ---------------------------------------------------------------------------------------


def test_a_dry_run_changes_nothing_and_tells_what_would_go(ended) -> None:
    runs = [ended(), ended()]
    before = [everything(each) for each in runs]
    said = StringIO()
    call_command("retain", "--dry-run", "--json", "-", stdout=said)
    told = json.loads(said.getvalue())
    assert [everything(each) for each in runs] == before
    assert [each["kind"] for each in told["due"]] == list(KINDS)
    for each in told["due"]:
        assert (each["runs"], each["days"]) == (2, 1.0)
        assert each["rows"] > 0
        assert each["bytes"] > 0
        assert each["examples"] == [str(run.pk) for run in runs]
    words = StringIO()
    call_command("retain", "--dry-run", stdout=words)
    assert "Questions and answers, 1 day after the end: 2 runs" in words.getvalue()
    gone = apply()
    for each in told["due"]:
        assert gone[each["kind"]].runs == 2
    assert gone["effects"].bytes == next(x for x in told["due"] if x["kind"] == "effects")["bytes"]


class Killed(BaseException):
    """The process ended here."""


@pytest.mark.parametrize("place", ["retention.erased", "retention.committed"])
@pytest.mark.parametrize("nth", [1, 2, 4, 7, 10])
def test_a_pass_that_is_killed_is_taken_up_by_the_next(ended, place, nth) -> None:
    for _ in range(2):
        ended()
    seen: list[str] = []

    def hook(name: str, run_id: str) -> None:
        if name == place:
            seen.append(name)
            if len(seen) == nth:
                raise Killed

    killpoints.install(hook)
    with pytest.raises(Killed):
        apply()
    killpoints.install(None)
    assert not Entry.objects.filter(verb="retention.applied").exists()
    gone = apply()
    assert {kind: done.runs for kind, done in gone.items()} == dict.fromkeys(KINDS, 2)
    assert places_of(SECRET) <= {"ledger_message", "approvals_notice"}
    entry = Entry.objects.get(verb="retention.applied")
    assert entry.data["effects"]["runs"] == 2
    assert apply() == {}
    assert Entry.objects.filter(verb="retention.applied").count() == 1


@pytest.mark.parametrize("place", ["retention.erased", "retention.committed"])
def test_a_process_that_is_killed_leaves_whole_runs_to_the_next(ended, place) -> None:
    runs = [ended(), ended()]
    with worker(child.retain_until, place, 4, **dict.fromkeys(AGES, DAY)) as killed:
        assert killed.frozen() == place
        apply()  # beside the frozen one: what it holds is left
        erased = Erasure.objects.filter(kind="states").count()
        assert erased == (2 if place == "retention.committed" else 1)
    until(lambda: apply() or Erasure.objects.count() == len(runs) * len(KINDS))
    assert places_of(SECRET) <= {"ledger_message", "approvals_notice"}
    told = [entry.data for entry in Entry.objects.filter(verb="retention.applied")]
    for kind in KINDS:
        assert sum(data[kind]["runs"] for data in told if kind in data) == 2


def test_without_an_age_everything_is_kept(ended, settings) -> None:
    run = ended()
    for name in AGES:
        setattr(settings, name, None)
    before = everything(run)
    assert apply() == {}
    assert everything(run) == before
    with pytest.raises(CommandError, match="No age is set"):
        call_command("retain", "--apply")


def test_one_class_alone_can_go(ended) -> None:
    ended()
    said = StringIO()
    call_command("retain", "--apply", "--only", "effects", "--json", "-", stdout=said)
    assert list(json.loads(said.getvalue())["erased"]) == ["effects"]
    assert SECRET in Run.objects.get().title


def test_a_pass_ends_when_its_time_is_over(ended) -> None:
    ended()
    assert apply(seconds=-1.0) == {}

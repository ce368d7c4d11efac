"""Accepted is accepted: a run is a committed row before anything else happens, or it is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from celery import current_app
from django.db import transaction

from accounts.actors import Actor
from accounts.errors import NotPermitted
from audit.models import Entry
from runs import admission, errors, status
from runs.models import Lease, Run
from tests.runs.conftest import SHELL
from tests.runs.test_leases import in_threads

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture(autouse=True)
def agents(declare) -> None:
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "integer"}},
        "required": ["amount"],
    }
    declare("line", title="Line {order_id}", version="7")
    declare("strict", graph=object(), input_schema=schema)


def start(given: object, agent: str = "line", **more: Any) -> Run:
    return admission.start(agent, given, **{"actor": SHELL} | more)


def deep(levels: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(levels):
        nested = [nested]
    return nested


# --- accepted -------------------------------------------------------------------------------------


def test_an_accepted_run_is_a_row_with_its_lease_and_an_entry_in_the_log(rung) -> None:
    run = start({"order_id": "A-1"})
    stored = Run.objects.get(pk=run.pk)
    assert (stored.status, stored.agent, stored.agent_version) == ("queued", "line", "7")
    assert (stored.title, stored.input) == ("Line A-1", {"order_id": "A-1"})
    assert stored.starter == SHELL.label
    lease = Lease.objects.get(pk=run.pk)
    assert (lease.fence, lease.expires_at, lease.progress_at) == (0, None, None)
    (entry,) = Entry.objects.filter(run_id=run.pk)
    assert (entry.verb, entry.allowed) == ("run.started", True)
    assert rung == [(run.pk, "started", "")]


def test_who_started_a_run_stands_on_it(ada, rung) -> None:
    run = start({}, actor=Actor.person(ada, entry="page"))
    assert (run.started_by, run.starter) == (ada, "Ada")


def test_nobody_is_rung_for_a_run_whose_transaction_was_undone(rung) -> None:
    with transaction.atomic():
        start({})
        transaction.set_rollback(True)
    assert not Run.objects.exists()
    assert rung == []


def test_a_title_shows_what_the_input_lacks_as_an_ellipsis(rung) -> None:
    assert start({}).title == "Line …"
    assert start([1, 2]).title == "Line …"


def test_a_broker_that_is_away_does_not_keep_a_run_out(settings, caplog, monkeypatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(current_app, "send_task", away)
    run = start({})
    assert Run.objects.get(pk=run.pk).status == status.Status.QUEUED
    assert "doorbell not heard" in caplog.text


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"a": 1.0, "b": [1, None, True]}, [], "text", 5, False, 0.1])
def test_the_same_key_and_input_is_the_same_run(rung, given: object) -> None:
    first = start(given, key="k")
    assert start(json.loads(json.dumps(given)), key="k").pk == first.pk
    assert Run.objects.count() == Lease.objects.count() == 1


def test_the_same_key_with_another_input_is_refused_and_names_the_first_run(rung) -> None:
    first = start({"amount": 10}, key="k")
    with pytest.raises(errors.KeyReused, match=str(first.pk)):
        start({"amount": 11}, key="k")
    assert Run.objects.count() == 1
    assert Entry.objects.filter(verb="run.start_refused", allowed=False).count() == 1


def test_another_agent_has_its_own_keys(rung) -> None:
    first = start({"amount": 1}, key="k")
    assert start({"amount": 1}, "strict", key="k").pk != first.pk


def test_runs_without_a_key_are_never_the_same(rung) -> None:
    assert start({}).pk != start({}).pk


@pytest.mark.race
def test_of_many_starts_with_one_key_at_once_one_makes_the_run(rung) -> None:
    runs = in_threads(4, lambda _: start({"n": 1}, key="k").pk)
    assert len(set(runs)) == 1
    assert Run.objects.count() == 1


@pytest.mark.parametrize("key", ["", "a" * 256, "a\nb", "a\x00b", "\u202e"])
def test_a_key_that_cannot_be_kept_or_read_is_refused(key: str) -> None:
    with pytest.raises(errors.BadInput, match="idempotency key"):
        start({}, key=key)


# --- bad input ------------------------------------------------------------------------------------

BAD = {
    "nothing": None,
    "NUL": {"text": "a\x00b"},
    "NUL in a key": {"a\x00": 1},
    "lone surrogate": ["\ud800"],
    "NaN": math.nan,
    "infinity": [math.inf],
    "large integer": 2**53,
    "large float": 1e300,
    "set": {"a": {1, 2}},
    "object": object(),
    "key that is no text": {1: "a"},
    "too deep": deep(150),
    "much too deep": deep(100_000),
    "too large": "a" * (256 * 1024),
}


@pytest.mark.parametrize("name", BAD)
def test_an_input_that_cannot_be_kept_exactly_is_refused(rung, name: str) -> None:
    start({})  # another run without a key must not be mistaken for this one
    with pytest.raises(errors.BadInput):
        start(BAD[name])
    assert Run.objects.count() == 1
    (entry,) = Entry.objects.filter(verb="run.start_refused")
    assert (entry.allowed, entry.target_id) == (False, "line")
    assert entry.reason


def test_an_input_that_does_not_fit_the_schema_is_refused_and_says_where(rung) -> None:
    with pytest.raises(errors.BadInput, match=r"amount must be a whole number\. An input"):
        start({"amount": "ten"}, "strict")
    with pytest.raises(errors.BadInput, match="amount is missing"):
        start({}, "strict")
    start({"amount": 10}, "strict")


def test_an_unknown_agent_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(errors.UnknownAgent, match="Did you mean 'line'"):
        start({}, "lime")
    assert Entry.objects.get().target_id == "lime"


# --- permission -----------------------------------------------------------------------------------


def test_somebody_without_the_right_is_refused_and_it_is_told(ben) -> None:
    with pytest.raises(NotPermitted):
        start({}, actor=Actor.person(ben, entry="page"))
    assert not Run.objects.exists()
    entry = Entry.objects.get()
    assert (entry.verb, entry.allowed) == ("run.start_refused", False)
    assert (entry.actor_label, entry.target_kind, entry.target_id) == ("Ben", "agent", "line")


def test_a_right_taken_away_meanwhile_counts_at_once(ada, rung) -> None:
    actor = Actor.person(ada, entry="page")
    ada.groups.clear()
    with pytest.raises(NotPermitted):
        start({}, actor=actor)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '[{"b": {"a": 1, "a": 1}}]'])
def test_an_input_with_a_name_twice_in_one_object_is_refused(text: str) -> None:
    with pytest.raises(errors.BadInput, match="'a' stands twice"):
        admission.read(text)
    assert admission.read('{"a": 1, "b": {"a": 1}}') == {"a": 1, "b": {"a": 1}}

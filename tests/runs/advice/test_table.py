"""Every way in which a run can be held up has an advice, and the pure rule finds it."""

from __future__ import annotations

from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from accounts import groups
from runs.advice import blocks
from runs.advice.house import House, Room
from runs.advice.table import ADVICES
from runs.status import ENDED, LIVE, OVERLAYS, Park, Status
from tests.support import standing as make

HOUSES = {
    "well": House(rooms={"a": Room(slots=2, taken=0)}, anybody=True),
    "busy": House(rooms={"a": Room(slots=2, taken=2)}, anybody=True),
    "nobody": House(),
    "others": House(rooms={"b": Room(slots=2, taken=0)}, anybody=True),
    "no broker": House(rooms={"a": Room(slots=2, taken=0)}, anybody=True, broker=False),
    "no sweeper": House(rooms={"a": Room(slots=2, taken=0)}, anybody=True, sweeper=False),
}
FLAGS = ("retrying", "stuck", "stalled", "read_only", "cancelling")


def keys(status: str, house: str = "well", park: str = "", **flags: bool) -> list[str]:
    run: Any = SimpleNamespace(
        status=status,
        park_reason=park,
        agent="a",
        ended=status in ENDED,
        due_at=make.soon(minutes=1) if flags.get("retrying") else None,
        cancel_asked_at=make.ago(minutes=1) if flags.get("cancelling") else None,
        read_only=flags.get("read_only", False),
    )
    stands: Any = SimpleNamespace(
        stuck=flags.get("stuck", False), stalled=flags.get("stalled", False)
    )
    return list(blocks.keys(run, stands, HOUSES[house]))


def test_every_state_overlay_and_reason_has_its_advice() -> None:
    unblocked = {Status.RUNNING, Status.SUCCEEDED, Status.CANCELLED, Status.PARKED}
    assert set(Status) - unblocked <= set(ADVICES)
    assert set(OVERLAYS) <= set(ADVICES)
    assert {f"parked.{reason}" for reason in Park} <= set(ADVICES)


def test_each_advice_says_what_is_wrong_and_what_to_do_in_whole_sentences() -> None:
    for advice in ADVICES.values():
        for words in (str(advice.wrong), str(advice.todo)):
            assert words[0].isupper(), words
            assert words.endswith("."), words
        assert advice.action, advice.key
        if advice.permission:
            assert groups.right(advice.permission).groups


def test_whatever_holds_a_run_up_the_rule_finds_an_advice() -> None:
    """Every state with every reason and overlay, in every house."""
    told_elsewhere = {Status.RUNNING, Status.WAITING, Status.SUCCEEDED, Status.CANCELLED}
    for status, house, flags in product(Status, HOUSES, product((False, True), repeat=len(FLAGS))):
        parks = Park if status == Status.PARKED else ("",)
        for park in parks:
            given = dict(zip(FLAGS, flags, strict=True))
            found = keys(status, house, park, **given)
            assert set(found) <= set(ADVICES), found
            above = park in blocks.TOLD_ABOVE
            assert found or above or status in told_elsewhere, (status, house, park, given)


@pytest.mark.parametrize(
    ("house", "key"),
    [
        ("well", "queued"),
        ("busy", "queued.busy"),
        ("nobody", "queued.no_worker"),
        ("others", "queued.unknown_agent"),
        ("no broker", "queued.broker_away"),
        ("no sweeper", "queued.sweeper_quiet"),
    ],
)
def test_a_queued_run_is_told_what_it_waits_for(house, key) -> None:
    assert keys(Status.QUEUED, house) == [key]


@pytest.mark.parametrize(
    ("house", "key"),
    [
        ("well", "stuck"),
        ("busy", "stuck"),
        ("nobody", "stuck.no_worker"),
        ("others", "stuck.unknown_agent"),
        ("no broker", "stuck.broker_away"),
        ("no sweeper", "stuck.sweeper_quiet"),
    ],
)
def test_a_stuck_run_is_promised_only_what_will_happen(house, key) -> None:
    assert keys(Status.RUNNING, house, stuck=True) == [key]


def test_a_run_that_goes_on_or_has_ended_well_needs_no_advice() -> None:
    assert keys(Status.RUNNING) == keys(Status.SUCCEEDED) == keys(Status.CANCELLED) == []


@pytest.mark.parametrize(
    ("house", "resting", "stuck"),
    [
        ("well", "cancelling.resting", "cancelling.stuck"),
        ("busy", "cancelling.resting", "cancelling.stuck"),
        ("others", "cancelling.resting", "cancelling.stuck"),
        ("nobody", "cancelling.no_worker", "cancelling.no_worker"),
        ("no broker", "cancelling.broker_away", "cancelling.broker_away"),
        ("no sweeper", "cancelling.resting", "cancelling.sweeper_quiet"),
    ],
)
def test_a_run_that_is_being_cancelled_is_told_one_thing(house, resting, stuck) -> None:
    """Whatever else holds it up: what it is told must not contradict itself."""
    for status, flags in product(LIVE, product((False, True), repeat=2)):
        park = Park.DEADLINE if status == Status.PARKED else ""
        also = dict(zip(("retrying", "read_only"), flags, strict=True))
        expected = "cancelling" if status == Status.RUNNING else resting
        assert keys(status, house, park, cancelling=True, **also) == [expected]
    running = partial(keys, Status.RUNNING, house, cancelling=True)
    for read_only in (False, True):
        assert running(stuck=True, read_only=read_only) == [stuck]
        assert running(stalled=True, read_only=read_only) == ["cancelling.stalled"]

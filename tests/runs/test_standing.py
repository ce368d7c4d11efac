"""How a run stands: badge, overlays, one reason line; in memory and as filters of the database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs import queries, registry, standing
from runs.listing import finding
from runs.listing.filters import Filters
from runs.models import Run
from runs.standing import Seen, Standing
from runs.status import OVERLAYS, Outcome, Park, Status
from runs.story import Remark, phrase
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db


def stands(run: Run, **seen: Any) -> Standing:
    last = seen.pop("last", run.attempts.order_by("-fence").first())
    return standing.of(run, Seen(now=timezone.now(), last=last, **seen))


def words(told: Standing) -> str:
    """The reason as text, with "<time>" for each moment."""
    return "".join("<time>" if piece.at else piece.text for piece in told.reason)


def labels(told: Standing) -> list[str]:
    return [badge.label or badge.state.label for badge in (told.main, *told.also)]


def test_a_running_run_says_what_it_does_and_when_its_lease_ends() -> None:
    told = stands(make.running(), node="summarise")
    assert labels(told) == ["Running"]
    assert words(told) == "summarise · lease ends <time>"


def test_the_progress_note_says_more_than_the_node() -> None:
    run = make.running()
    make.lease(run, progress_note="page 3 of 9")
    assert words(stands(make.again(run), node="read")).startswith("page 3 of 9 · ")


def test_a_run_whose_lease_has_ended_is_stuck_and_says_who_had_it() -> None:
    told = stands(make.stuck())
    assert labels(told) == ["Stuck"]
    assert words(told) == f"lease ended <time> · {make.HOLDER}"


def test_a_moment_or_a_person_that_is_not_known_is_not_named() -> None:
    run = make.stuck()
    make.lease(run, expires_at=None, holder="")
    assert words(stands(make.again(run))) == "nobody holds its lease"
    assert words(stands(make.run("Waits", status=Status.WAITING))) == ""
    assert words(stands(make.run("Ended", status=Status.CANCELLED))) == ""


def test_a_run_whose_lease_is_renewed_without_a_step_is_stalled() -> None:
    told = stands(make.stalled())
    assert labels(told) == ["Stalled"]
    assert words(told) == f"last step <time> · {make.HOLDER}"


def test_a_step_counts_from_the_start_of_the_attempt_that_makes_it() -> None:
    run = make.stalled()
    run.attempts.update(started_at=make.ago(minutes=1))
    assert not stands(make.again(run)).stalled


def test_an_agent_may_stay_quiet_for_as_long_as_it_says(settings) -> None:
    settings.RUNS_AGENTS = [
        {"name": "slow", "graph": "x.y", "version": "1", "stall_after": timedelta(days=1)}
    ]
    registry.declarations.cache_clear()
    assert not stands(make.stalled(agent="slow")).stalled
    assert stands(make.stalled(agent="quick")).stalled


def test_a_queued_run_says_when_it_was_queued_or_that_no_worker_knows_the_agent() -> None:
    run = make.run()
    assert words(stands(run)) == "queued <time>"
    assert words(stands(run, offered=False)) == "no live worker knows refund_desk 1.0"


def test_a_queued_run_says_when_every_worker_has_its_hands_full() -> None:
    run = make.run()
    assert words(stands(run, busy=(2, 2))) == "queued <time> · 2 of 2 slots busy for refund_desk"


def test_a_retry_shows_when_and_why() -> None:
    run = make.run(due_at=make.soon(minutes=1))
    make.attempt(run, outcome=Outcome.RAISED, error_class="Timeout", error="no answer\nin 20 s")
    told = stands(run)
    assert labels(told)[0].startswith("Retrying at ")
    assert words(told) == "Timeout: no answer · <time>"


@pytest.mark.parametrize("reason", Park.values)
def test_a_parked_run_says_why(reason) -> None:
    told = stands(make.parked(reason))
    assert labels(told)[0].startswith("Parked: ")
    assert words(told) == told.main.state.sentence


def test_the_detail_of_a_park_is_worth_more_than_its_sentence() -> None:
    run = make.parked(Park.GRAPH_CHANGED, park_detail="missing: draft")
    assert words(stands(run)) == "missing: draft"


def test_ended_runs_say_how_they_ended() -> None:
    failed = make.run(status=Status.FAILED, error_class="ValueError", error="no such order")
    gone = make.run(status=Status.CANCELLED, cancelled_by="Ada", cancel_reason="Twice.")
    assert words(stands(failed)) == "ValueError: no such order"
    assert words(stands(gone)) == "by Ada: Twice."
    assert words(stands(make.run(status=Status.SUCCEEDED))) == "ended <time>"


def test_what_the_layers_above_say_explains_waiting_runs() -> None:
    run = make.run(status=Status.WAITING, wait_until=make.soon(hours=1))
    assert words(stands(run)) == "deadline <time>"
    assert words(stands(run, remark=Remark(reason=phrase("Refund? · finance")))) == (
        "Refund? · finance"
    )


def test_overlays_stand_beside_the_state() -> None:
    run = make.run(status=Status.WAITING, cancel_asked_at=make.ago(seconds=1), read_only=True)
    remark = Remark(state=OVERLAYS["in_doubt"], reason=phrase("refund: nobody heard"))
    assert labels(stands(run, remark=remark)) == [
        "Waiting for approval",
        "Cancelling",
        "Effect in doubt",
        "Read-only",
    ]


def test_an_overlay_does_not_repeat_the_reason_for_being_parked() -> None:
    remark = Remark(state=OVERLAYS["in_doubt"], reason=phrase("refund: nobody heard"))
    told = stands(make.parked(Park.EFFECT_IN_DOUBT), remark=remark)
    assert labels(told) == ["Parked: effect in doubt"]
    assert words(told) == "refund: nobody heard"


def test_a_long_reason_is_cut() -> None:
    run = make.run(status=Status.FAILED, error_class="E", error="x" * 5000)
    assert len(words(stands(run))) == standing.LONGEST_REASON


def test_the_filters_find_exactly_what_the_rules_say(settings) -> None:
    settings.RUNS_AGENTS = [
        {"name": "slow", "graph": "x.y", "version": "1", "stall_after": timedelta(days=1)}
    ]
    registry.declarations.cache_clear()
    make.running()
    make.stuck()
    make.stalled()
    make.stalled(agent="slow")
    make.parked(Park.CRASH_LOOP)
    make.run()
    make.run(status=Status.SUCCEEDED)
    quiet = make.running("Never moved")
    make.lease(quiet, progress_at=None)
    quiet.attempts.update(started_at=make.ago(days=1))
    ada = person("Ada")
    rows = queries.rows(list(finding.matching(Filters(), ada).select_related("lease")), ada)
    for name in ("stuck", "stalled"):
        found = finding.matching(Filters(status=name), ada).values_list("pk", flat=True)
        by_rule = [row.run.pk for row in rows if getattr(row.standing, name)]
        assert by_rule
        assert sorted(found) == sorted(by_rule)

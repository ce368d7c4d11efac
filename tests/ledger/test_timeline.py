"""What a run's timeline tells of its effects after their calls: webhooks, looks, people's word."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import translation

from ledger import sweep
from ledger.models import Effect, EffectAttempt, HookEvent, Look
from ledger.timeline import events, spans
from runs.models import Attempt
from tests.support import scenes
from tests.support import standing as make
from tests.support.scenes import Clock

pytestmark = pytest.mark.django_db
CLOCK = Clock(hours=1)


@pytest.fixture
def run(db):
    return make.running(created_at=CLOCK.start)


def unheard(run, **more) -> Effect:
    """A call of which nobody heard the end, from 10 s to 20 s."""
    return scenes.effect(run, CLOCK, "t1", [(10, 20, "unknown")], **more)


def told(effect: Effect, heard: str, second: float) -> None:
    HookEvent.objects.create(
        provider="fakepay",
        event=f"evt_{second}",
        kind="refund.updated",
        heard=heard,
        effect=effect,
        digest="0" * 64,
        at=CLOCK.at(second),
    )


def looked(effect: Effect, answer: str, second: float, *, counts: bool = True) -> None:
    Look.objects.create(
        effect=effect,
        provider_key="k",
        attempt=1,
        answer=answer,
        counts=counts,
        at=CLOCK.at(second),
    )


def lost(run, *, seen: float, taken: float) -> None:
    """Its worker was last heard of at `seen`; another took over at `taken`."""
    Attempt.objects.filter(run=run).delete()
    scenes.attempt(run, CLOCK, 1, 1, taken, outcome="lost", seen_at=seen)


def moments(run) -> list[tuple[str, str]]:
    found = events.of(run.pk, since=CLOCK.start, until=None)
    return [(each.state.label, each.text) for each in sorted(found, key=lambda each: each.at)]


def doubt(run):
    """The stage in which nobody knows, of the run's only effect."""
    (span,) = spans.of(run.pk, since=CLOCK.start, until=None)
    (stage,) = [stage for stage in span.stages if stage.idle]
    return stage


def test_what_was_learned_after_a_call_is_told_after_it(run) -> None:
    effect = unheard(run)
    looked(effect, "silent", 40)
    told(effect, "confirmed", 60)
    assert moments(run) == [
        ("Done, known later", "payments.refund"),
        ("No answer", "payments.refund: the provider was asked"),
        ("Confirmed", "payments.refund: fakepay told by webhook"),
    ]


def test_that_nobody_reported_a_call_is_told_in_the_language_of_the_reader(run) -> None:
    EffectAttempt.objects.filter(effect=unheard(run)).update(error=sweep.WHY)
    with translation.override("de"):
        (event,) = events.of(run.pk, since=CLOCK.start, until=None)
    assert event.note[0].text.startswith("Ein Aufruf wurde begonnen, und sein Worker ging verloren")


def test_webhooks_that_say_nothing_of_the_effect_are_left_out(run) -> None:
    told(unheard(run, status="in_doubt"), "unused", 60)
    assert moments(run) == [("Unknown", "payments.refund")]


def test_a_doubt_lasts_until_a_webhook_told_how_it_ended(run) -> None:
    told(unheard(run), "confirmed", 60)
    assert (doubt(run).start, doubt(run).end) == (CLOCK.at(20), CLOCK.at(60))


def test_a_look_ends_a_doubt_only_if_it_counts(run) -> None:
    effect = unheard(run)
    looked(effect, "absent", 30, counts=False)
    looked(effect, "silent", 35)
    looked(effect, "found", 50)
    assert doubt(run).end == CLOCK.at(50)


def test_the_next_call_ends_a_doubt_and_begins_another_stage(run) -> None:
    scenes.effect(run, CLOCK, "t1", [(10, 20, "unknown"), (32, 34, "succeeded")])
    (span,) = spans.of(run.pk, since=CLOCK.start, until=None)
    assert [(stage.label, stage.end) for stage in span.stages] == [
        ("Unknown", CLOCK.at(20)),
        ("nobody knows whether it happened", CLOCK.at(32)),
        ("Done", CLOCK.at(34)),
    ]


@pytest.mark.parametrize(("ended", "outcome"), [(0, "open"), (45, "unknown")])
def test_a_call_ends_with_its_worker_not_when_somebody_notices(run, ended, outcome) -> None:
    lost(run, seen=15, taken=30)
    effect = scenes.effect(run, CLOCK, "t1", [(10, ended, outcome)], updated=11)
    told(effect, "confirmed", 11)
    (span,) = spans.of(run.pk, since=CLOCK.start, until=None)
    known = "Done, known later"
    assert [(stage.label, stage.end) for stage in span.stages] == [(known, CLOCK.at(15))]
    (call, _) = sorted(events.of(run.pk, since=CLOCK.start, until=None), key=lambda each: each.at)
    assert (call.state.label, call.length) == (known, timedelta(seconds=5))


def test_the_doubt_begins_where_the_worker_was_last_seen(run) -> None:
    lost(run, seen=15, taken=30)
    scenes.effect(run, CLOCK, "t1", [(10, 45, "unknown")], status="in_doubt")
    assert (doubt(run).start, doubt(run).end) == (CLOCK.at(15), None)


def test_what_a_worker_reported_before_it_was_lost_stands(run) -> None:
    lost(run, seen=15, taken=30)
    scenes.effect(run, CLOCK, "t1", [(10, 20, "unknown")], status="in_doubt")
    assert doubt(run).start == CLOCK.at(20)


@pytest.mark.parametrize(
    ("status", "label"),
    [
        ("in_doubt", "Unknown"),
        ("confirmed", "Done, known later"),
        ("sent", "Done, known later"),
        ("failed", "Failed, known later"),
    ],
)
def test_a_call_is_called_what_is_known_of_it_by_now(run, status, label) -> None:
    unheard(run, status=status)
    (span,) = spans.of(run.pk, since=CLOCK.start, until=None)
    assert span.stages[0].label == label
    assert moments(run) == [(label, "payments.refund")]


def test_a_doubt_that_nobody_has_cleared_goes_on(run) -> None:
    unheard(run, status="in_doubt")
    assert doubt(run).end is None


def test_an_effect_settled_by_hand_reads_as_settled_by_hand(run) -> None:
    effect = unheard(run)
    Effect.objects.filter(pk=effect.pk).update(settled_by="Ada", settled_at=CLOCK.at(90))
    assert moments(run)[-1] == ("Settled by hand", "payments.refund: done, says Ada")
    (span,) = spans.of(run.pk, since=CLOCK.start, until=None)
    assert [mark.label for mark in span.marks] == ["Settled by hand: done, says Ada"]
    assert doubt(run).end == CLOCK.at(90)


def test_an_effect_belongs_to_the_task_that_wanted_it(run) -> None:
    unheard(run, node="pay")
    Effect.objects.update(step="pay@0f3c/call_1")
    (span,) = spans.of(run.pk, since=CLOCK.start, until=None)
    assert (span.node, span.task, span.title) == ("pay", "0f3c", "payments.refund")


def test_only_what_went_on_in_that_time_is_told(run) -> None:
    unheard(run)
    hour = timedelta(hours=1)
    assert spans.of(run.pk, since=CLOCK.start - hour, until=CLOCK.start) == []
    assert list(events.of(run.pk, since=CLOCK.start - hour, until=CLOCK.start)) == []


def test_effects_cost_four_queries_however_many(run, django_assert_num_queries) -> None:
    for _ in range(9):
        unheard(run)
    with django_assert_num_queries(4):
        assert len(spans.of(run.pk, since=CLOCK.start, until=None)) == 9

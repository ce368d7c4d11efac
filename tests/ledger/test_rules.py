"""Every combination of what can be found leads to exactly one step, and never to a guess."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from ledger import registry, rules, status
from ledger.models import Idempotency
from ledger.rules import Ask, Attend, Call, Doubt, Found, Rest
from ledger.status import Outcome

GUARDS = tuple(Idempotency)
ENDED = (None, Outcome.RETRYABLE, Outcome.ABSENT)


def every():
    """All pending effects that rows can show."""
    lasts = [None, *(outcome for outcome in Outcome if outcome is not Outcome.SUCCEEDED)]
    for guard, last, unresolved, flags in product(
        GUARDS, lasts, (False, True), product((False, True), repeat=6)
    ):
        allowed, mine, overdue, same, window, ask = flags
        if last in (Outcome.OPEN, Outcome.UNKNOWN) and not unresolved:
            continue
        if last is None and unresolved:
            continue
        if allowed and unresolved:
            continue
        for wait, asked, silent in product((0.0, 5.0), (0, 1), (0, 3)):
            yield Found(
                guard=guard,
                retry_allowed=allowed,
                wait=wait,
                last=last,
                mine=mine,
                overdue=overdue,
                unresolved=unresolved,
                streak=int(unresolved),
                same_again=same,
                in_window=window,
                can_ask=ask,
                asked=asked + silent,
                silent=silent,
                tries=3,
            )


def test_an_effect_with_an_unknown_end_is_never_called_with_a_new_key():
    for found in every():
        step = rules.next_step(found)
        if found.unresolved and isinstance(step, Call):
            assert not step.new_key, found


def test_an_effect_with_an_unknown_end_is_called_again_only_within_a_providers_promise():
    for found in every():
        step = rules.next_step(found)
        if found.unresolved and isinstance(step, Call):
            assert found.guard is Idempotency.PROVIDER, found
            assert found.in_window, found
            assert not found.same_again, found
            assert found.last is not Outcome.REFUSED, found


def test_a_call_that_may_be_alive_in_this_driver_is_never_repeated_or_doubted():
    for found in every():
        if found.last is Outcome.OPEN and found.mine and not found.overdue:
            assert rules.next_step(found) == Attend(), found


def test_a_call_of_another_driver_or_one_whose_time_is_up_is_not_waited_for():
    for found in every():
        if found.last is not Outcome.OPEN or not found.mine or found.overdue:
            assert rules.next_step(found) != Attend(), found


def test_only_what_has_an_unknown_end_is_doubted_or_asked_about():
    for found in every():
        if isinstance(rules.next_step(found), Doubt | Ask):
            assert found.unresolved, found


def test_nobody_is_asked_who_cannot_answer_and_silence_ends_in_doubt():
    for found in every():
        step = rules.next_step(found)
        if isinstance(step, Ask):
            assert found.can_ask, found
            assert found.guard is not Idempotency.LEDGER, found
            assert found.silent < found.tries, found


def test_what_only_the_ledger_guards_is_doubted_at_once():
    for found in every():
        alive = found.last is Outcome.OPEN and found.mine and not found.overdue
        if found.guard is Idempotency.LEDGER and found.unresolved and not alive:
            assert isinstance(rules.next_step(found), Doubt), found


def test_a_wait_is_kept_before_anything_is_called_again_by_rule():
    for found in every():
        if found.wait > 0 and isinstance(rules.next_step(found), Call):
            assert found.retry_allowed, found


def test_what_a_person_allowed_is_called_with_a_new_key():
    for found in every():
        if found.retry_allowed:
            assert rules.next_step(found) == Call(new_key=True), found


def test_a_wait_is_spent_in_place_only_for_the_first_few_tries():
    waiting = Found(
        guard=Idempotency.PROVIDER,
        wait=1.0,
        last=Outcome.UNKNOWN,
        unresolved=True,
        streak=2,
        tries=3,
    )
    assert rules.next_step(waiting) == Rest(seconds=1.0, in_place=True)
    for mine, step in ((True, Rest(seconds=0.0, in_place=False)), (False, Call(new_key=False))):
        over = Found(
            guard=Idempotency.PROVIDER,
            last=Outcome.UNKNOWN,
            unresolved=True,
            mine=mine,
            streak=3,
            tries=3,
        )
        assert rules.next_step(over) == step
    for more in ({"streak": 3}, {"asked": 3}):
        later = Found(
            guard=Idempotency.PROVIDER,
            wait=1.0,
            last=Outcome.UNKNOWN,
            unresolved=True,
            tries=3,
            **more,
        )
        assert rules.next_step(later) == Rest(seconds=1.0, in_place=False)


@pytest.mark.parametrize("stored", GUARDS)
@pytest.mark.parametrize("now", GUARDS)
@pytest.mark.parametrize("lookup", [True, False])
def test_a_changed_declaration_never_promises_more_about_calls_made_before(stored, now, lookup):
    tool = registry.Tool(
        name="t.changed",
        function=print,
        idempotency=now,
        signature=None,  # type: ignore[arg-type]
        passes=frozenset(),
        lookup=(lambda key: None) if lookup else None,
    )
    guard = rules.guard_of(stored, tool)
    if stored is Idempotency.LEDGER:
        assert guard is Idempotency.LEDGER
    elif stored is now:
        assert guard is stored
    else:
        assert guard is (Idempotency.LOOKUP if lookup else Idempotency.LEDGER)


def test_an_unknown_tool_is_guarded_by_the_ledger_alone():
    for stored in GUARDS:
        assert rules.guard_of(stored, None) is Idempotency.LEDGER


def test_pauses_double_up_to_the_cap_and_spread():
    base, cap = timedelta(seconds=1), timedelta(seconds=10)
    for tried, longest in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (100, 10)):
        pauses = [rules.backoff(base, cap, tried) for _ in range(50)]
        assert longest / 2 <= min(pauses) <= max(pauses) <= longest


def test_the_tables_of_states_are_complete():
    assert set(status.STATES) == set(status.Status.values)
    assert set(status.OUTCOMES) == set(status.Outcome.values)
    assert set(status.ANSWERS) == set(status.Answer.values)
    for state in status.STATES.values():
        assert set(state.next) <= set(status.Status.values)

"""Attempts: each with what it saved and did, and two of them side by side."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.models import Drift, EffectAttempt
from runs import masking
from runs.models import Attempt, Run
from runs.trace import attempts, diverging
from tests.runs.trace.conftest import text, url
from tests.support import standing as make
from tests.support import wavering
from tests.support.people import person

pytestmark = pytest.mark.race


def rows(run: Run, *fences: int) -> list[attempts.Row]:
    return attempts.pick(run, person("Rut"), fences or (1, 2), masking.BARE)


def compared(run: Run, hides: masking.Cloak = masking.BARE) -> diverging.Comparison:
    first, second = rows(run)
    return diverging.compare(run.pk, first, second, hides)


def test_an_attempt_knows_where_it_began_what_it_saved_and_what_it_did(killed) -> None:
    run = killed("steady", "effect.settled", answered=True)
    first, second, third = rows(run, 1, 2, 3)
    assert [str(row.state.label) for row in (first, second, third)] == [
        "Lost",
        "Asked a person",
        "Finished",
    ]
    assert first.resumed_from is None
    assert first.left_at is not None
    assert first.left_at.nodes == "settle"
    assert second.resumed_from == first.left_at
    assert (first.steps, second.steps, third.steps) == (3, 1, 2)
    told = [(deed.title, deed.state.label) for deed in second.deeds if deed.kind != "question"]
    assert [(deed.title, deed.state.label) for deed in first.deeds] == [("wavering.pay", "Done")]
    assert told == [("wavering.pay", "Was told the result")]
    assert [deed.kind for deed in second.deeds] == ["wavering.pay", "question"]


def test_a_step_that_ran_again_and_did_the_same_is_found_and_does_not_differ(killed) -> None:
    run = killed("steady")
    found = compared(run)
    assert found.divergence is None
    shared = found.shared
    assert shared is not None
    assert (shared.first.did, shared.second.did) == ("at_work", "saved")
    assert (shared.first.node, shared.second.node) == ("settle", "settle")
    before = [(step.first.did, step.second.did) for step in found.steps]
    assert before == [
        ("saved", "had_it"),
        ("saved", "had_it"),
        ("saved", "had_it"),
        ("at_work", "saved"),
        ("not_reached", "asked"),
    ]


def test_the_step_at_which_the_second_wanted_something_else_is_named(client, killed) -> None:
    run = killed("wavering")
    assert Drift.objects.filter(run=run).exists()
    found = compared(run)
    split = found.divergence
    assert split is not None
    assert (split.first.node, split.second.node) == ("settle", "settle")
    (pair,) = split.differing
    assert pair.before != pair.after
    client.force_login(person("Ada"))
    shown = text(client, url(run, "attempts") + "?first=1&second=2")
    assert "The same up to checkpoint 1." in shown
    assert "wavering.pay has other arguments." in shown
    assert "process " in shown
    assert wavering.SECRET not in shown


def test_what_differs_in_hidden_values_only_is_said_and_not_shown(killed) -> None:
    run = killed("wavering")
    hides = masking.Cloak(paths=frozenset({("note",)}))
    found = compared(run, hides)
    assert found.divergence is not None
    (pair,) = found.divergence.differing
    assert pair.hidden
    assert "process" not in str((pair.before, pair.after))


def test_attempts_after_each_other_share_no_step(client, killed) -> None:
    run = killed("steady", answered=True)
    client.force_login(person("Ada"))
    shown = text(client, url(run, "attempts") + "?first=1&second=3")
    assert "Attempt 3 went on after what attempt 1 had saved." in shown


def test_the_order_in_which_two_are_picked_does_not_matter(client, killed) -> None:
    run = killed("wavering")
    client.force_login(person("Ada"))
    there, back = (
        text(client, url(run, "attempts") + f"?first={one}&second={two}")
        for one, two in ((1, 2), (2, 1))
    )
    assert "attempt 2 asked for something else than attempt 1" in there
    assert "attempt 2 asked for something else than attempt 1" in back


def test_nothing_hidden_is_on_the_pages_of_attempts(client, killed) -> None:
    run = killed("wavering")
    failed = {"error_class": "Refused", "error": f"no account of {wavering.SECRET}"}
    Attempt.objects.filter(run=run, fence=1).update(**failed)
    EffectAttempt.objects.filter(fence=1).update(error=f"no account of {wavering.SECRET}")
    client.force_login(person("Cy"))
    pages = [url(run, "attempts"), url(run, "attempts") + "?first=1&second=2"]
    for page in pages:
        assert wavering.SECRET not in text(client, page)
    assert client.get(pages[1] + "&reveal=1").status_code == 403
    client.force_login(person("Dee"))
    assert client.get(pages[0]).status_code == 403


@pytest.mark.django_db
def test_many_attempts_are_in_pages(client) -> None:
    client.force_login(person("Ada"))
    run = make.running()
    Attempt.objects.bulk_create(
        Attempt(run=run, fence=fence, holder="w", cause="c", outcome="lost", ended_at=make.ago())
        for fence in range(2, 130)
    )
    newest = client.get(url(run, "attempts"))
    assert [row.fence for row in newest.context["page"].rows] == list(range(129, 79, -1))
    older = client.get(url(run, "attempts") + newest.context["older"])
    assert older.context["page"].rows[0].fence == 79
    back = client.get(url(run, "attempts") + older.context["newer"])
    assert back.context["page"].rows[0].fence == 129
    assert back.context["newer"] == ""


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["attempts", "checkpoints"])
def test_pages_ask_no_more_often_when_there_are_more_attempts(client, name) -> None:
    client.force_login(person("Ada"))
    asked = []
    for count in (3, 30):
        run = make.run()
        for fence in range(1, count + 1):
            make.attempt(run, fence, outcome="lost")
        with CaptureQueriesContext(connection) as found:
            text(client, url(run, name))
        asked.append(len(found))
    assert asked[0] == asked[1]


@pytest.mark.django_db
@pytest.mark.parametrize("asked", ["first=1", "first=1&second=1", "first=x&second=9", "before=²"])
def test_addresses_without_two_attempts_show_the_list(client, asked) -> None:
    client.force_login(person("Ada"))
    assert "each is one holding of the lease" in text(
        client, f"{url(make.running(), 'attempts')}?{asked}"
    )

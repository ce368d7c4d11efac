"""What pages read of the ledger, the notes of progress, and the checks at start."""

from __future__ import annotations

from uuid import uuid4

import pytest

import ledger
from accounts import clock
from ledger import checks, errors, queries, refusals
from ledger.browse.filters import Filters
from ledger.browse.listing import Listing, Overlays, Place
from ledger.models import Effect
from runs import authority
from runs.models import Lease, Run
from tests.ledger.conftest import dying_at, effect_of, make_run, take_over
from tests.ledger.provider import http, unheard
from tests.support.people import person


@pytest.fixture
def ada(db: None):
    return person("Ada")


@pytest.fixture
def seven(t, driver):
    for n in range(7):
        driver(lambda n=n: t.ledger(order=str(n)))


def orders(effects) -> list[str]:
    return [effect.args["order"] for effect in effects]


def test_pages_go_forward_and_back_by_key(seven, ada):
    effects = Listing.of(Filters(), ada)
    first = effects.page(limit=3)
    second = effects.page(after=Place.of(first[-1]), limit=3)
    third = effects.page(after=Place.of(second[-1]), limit=3)
    assert orders([*first, *second, *third]) == ["6", "5", "4", "3", "2", "1", "0"]
    assert orders(effects.page(before=Place.of(second[0]), limit=3)) == orders(first)


def test_filters(t, world, driver, run, seven, ada):
    world.says = [http(402)]
    with pytest.raises(errors.EffectFailed):
        driver(lambda: t.provider(order="x"))
    other = make_run("other_desk")
    take_over(other)(lambda: t.ledger(order="y"))

    def found(**filters: object) -> int:
        return len(Listing.of(Filters(**filters), ada).page())

    assert found() == 9
    assert found(status="failed") == 1
    assert found(tool="t.provider") == 1
    assert found(agent="other_desk") == 1
    assert found(run_id=run.pk) == 8
    assert found(text="re_3") == 1
    assert found(text="PROVIDER") == 1
    assert found(text=str(other.pk)) == 1
    effect = effect_of(other)
    assert found(text=str(effect.uid)) == found(text=effect.idempotency_key) == 1
    assert found(text="nothing \x00") == 0
    assert found(settled_by_hand=True) == 0
    assert Listing.of(Filters(), ada).counts()["sent"].number == 8
    counts = Listing.of(Filters(run_id=run.pk), ada).counts()
    assert {state: count.number for state, count in counts.items()} == {
        "pending": 0,
        "sent": 7,
        "confirmed": 0,
        "failed": 1,
        "in_doubt": 0,
    }
    assert queries.tools() == ["t.ledger", "t.provider"]


def test_one_effect_with_everything_about_it(t, world, driver, run, ada):
    world.says = [unheard()]
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))
    detail = queries.effect(effect_of(run).uid, ada)
    assert [call.outcome for call in detail.calls] == ["unknown"]
    assert [look.answer for look in detail.looks] == ["absent"]
    assert (detail.incidents, detail.calling, detail.holder_lives) == ([], False, True)
    assert (detail.state.value, detail.may_be_settled) == ("pending", False)
    take_over(run)
    assert not queries.effect(effect_of(run).uid, ada).holder_lives
    with pytest.raises(errors.NoSuchEffect):
        queries.effect(uuid4(), ada)


def test_a_call_under_way_is_shown(t, driver, run, ada):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    assert queries.effect(effect_of(run).uid, ada).state.value == "calling"
    assert Overlays.of(Listing.of(Filters(), ada).page()).calling == {effect_of(run).pk}


def test_incidents_are_counted(t, world, driver, run):
    assert list(queries.incidents()) == []
    world.says = [unheard()]
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    with pytest.raises(errors.EffectConflict):
        driver(lambda: t.ledger(order="8", key=effect_of(run).idempotency_key))
    assert [each.kind for each in queries.incidents()] == ["conflict"]
    assert not queries.incidents(kinds=("duplicate",)).exists()


# --- progress ------------------------------------------------------------------------------------


def test_progress_is_noted_on_the_lease(driver, run):
    driver(lambda: ledger.progress("page 3 of 9"))
    lease = Lease.objects.get(pk=run.pk)
    assert lease.progress_note == "page 3 of 9"
    assert abs((clock.now() - lease.progress_at).total_seconds()) < 5
    driver(lambda: ledger.progress("x" * 1000 + "\x00"))
    assert len(Lease.objects.get(pk=run.pk).progress_note) == 300


def test_progress_of_a_former_driver_is_refused(driver, run):
    take_over(run)
    with pytest.raises(refusals.LeaseGone):
        driver(lambda: ledger.progress("still here"))
    assert Lease.objects.get(pk=run.pk).progress_note == ""
    with pytest.raises(errors.NoAuthority):
        ledger.progress("nobody")
    assert authority.current() is None


# --- checks --------------------------------------------------------------------------------------


def test_the_settings_of_the_tests_are_fit(settings):
    assert checks.settings_fit() == []
    assert checks.ports_fit() == []


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("LEDGER_CALL_TIMEOUT", 0, "E001"),
        ("LEDGER_TRIES", 0, "E002"),
        ("LEDGER_REFUSALS", 0, "E002"),
        ("LEDGER_BACKOFF", 0, "E003"),
        ("LEDGER_RESULT_LIMIT", 10, "E004"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings, name, value, code):
    from_now = type(getattr(settings, name))
    setattr(settings, name, from_now(value))
    found = checks.settings_fit()
    assert [problem.id for problem in found] == [f"ledger.{code}"]
    assert name in found[0].msg


@pytest.mark.parametrize(
    ("named", "code"), [("no.such.Module", "E005"), ("datetime.timedelta", "E006")]
)
def test_a_port_that_cannot_work_is_named(settings, named, code):
    settings.LEDGER_PERMITS = named
    assert [problem.id for problem in checks.ports_fit()] == [f"ledger.{code}"]


@pytest.mark.parametrize(
    ("text", "whole", "part"),
    [
        ("10382", 1, 1),
        ("1038", 0, 1),
        ("61240", 1, 1),
        ("612", 0, 1),
        ("eve@example.org", 1, 1),
        ("eve@", 0, 1),
        ("order_id", 0, 0),  # names of fields are in every effect
        ("refund order 77", 1, 1),
        ("0.5e1", 0, 0),
        ("'\"\\", 0, 0),
    ],
)
def test_an_effect_is_found_by_its_arguments_and_by_its_run(ada, text, whole, part):
    run = make_run()
    Run.objects.filter(pk=run.pk).update(title="Refund order 77")
    args = {"order_id": "10382", "amount_cents": 61240, "to": [{"address": "eve@example.org"}]}
    fields = {"step": "a@1", "tool": "pay", "fence": 1, "args_hash": "0" * 64}
    Effect.objects.create(run=run, idempotency_key="k", args=args, **fields)
    Effect.objects.create(
        run=make_run("other_desk"), idempotency_key="l", args={"order_id": "1"}, **fields
    )

    assert len(Listing.of(Filters(text=text), ada).page()) == whole
    assert len(Listing.of(Filters(text=text, in_arguments=True), ada).page()) == part

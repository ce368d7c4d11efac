"""Nobody learns by a search of the ledger, or by its finding nothing, what pages hide from them."""

from __future__ import annotations

import pytest
from django.urls import reverse

from accounts.models import User
from audit import canonical
from ledger.browse import search
from ledger.browse.conditions import read
from ledger.browse.filters import Filters
from ledger.browse.listing import Listing, Place
from ledger.models import Effect
from runs import web
from runs.models import Run
from tests.approvals.conftest import ask, ours, pending
from tests.support.people import person
from tests.support.web import html_of

pytestmark = pytest.mark.django_db
IBAN = "DE02120300000000202051"


@pytest.fixture
def performed(waiting_run, rule):
    """An effect of a run that asked under a policy which masks these fields, and does no more."""

    def performed(args: object, *masked: str, asked: object = None, **of_run: object) -> Effect:
        rule(masked=list(masked))
        run = waiting_run(**of_run)
        ask(run, pending(ours(args=args if asked is None else asked)))
        rule(masked=[])
        return effect(run, args)

    return performed


def effect(run: Run, args: object) -> Effect:
    return Effect.objects.create(
        run=run,
        tool="payments.refund",
        args=args,
        args_hash=canonical.digest(args),
        idempotency_key=f"k{Effect.objects.count()}",
        provider_key="k",
        step="s@t",
        status="sent",
        idempotency="provider",
        fence=1,
        attempts=1,
    )


def filters(*, where: str = "", text: str = "") -> Filters:
    return Filters(conditions=read(where), text=text)


def found(user: User, *, where: str = "", text: str = "") -> int:
    """How many effects the list has: its page and its counts agree.

    They are counted however many hide what is looked for, for who does not see that.
    """
    listing = Listing.of(filters(where=where, text=text), user)
    page, counts = listing.page(), listing.counts()
    assert counts or not text + where or user.has_perm(web.REVEAL)
    assert not counts or counts["sent"].number == len(page)
    return len(page)


@pytest.fixture(params=["few", "many"])
def either_way(request, monkeypatch) -> None:
    """Filters are answered from their own index, and while walking down the list."""
    if request.param == "many":
        monkeypatch.setattr(search, "MOST", 0)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("args", "masked", "hidden"),
    [
        ({"pin": "X9"}, "args.pin", "X9"),
        ({"pin": 7}, "args.pin: treasury", "7"),
        ({"pin": 7.50}, "args.pin", "7.5"),
        ({"to": {"bank": ["İx"]}}, "args.to", "İx"),
        ({"to": {"bank": "B-1"}}, "args.to.bank", "B-1"),
        ({"code": "X9"}, "args", "X9"),
        ({"code": "X9"}, "payload.args.code", "X9"),
        ({"lines": ["X9", "Y8"]}, "args.lines.0", "X9"),
        ({"lines": [{"pay": 5}, {"pay": 6}]}, "args.lines.0.pay", "5"),
        (["X9", "Y8"], "args.0", "X9"),
        ({"body": '{"to":"X9"}'}, "args.to", '{"to":"X9"}'),
        ({"body": '{"to":"X9"}'}, "args.to", '{"TO":"x9"}'),
        ({"body": '["X9"]'}, "args.0", '["X9"]'),
        ({"body": IBAN, "again": IBAN}, "args.body", IBAN.lower()),
        ({"api-key": "X9"}, "args.pin", "X9"),
    ],
)
@pytest.mark.parametrize("edited", [False, True])
def test_a_policy_of_then_goes_on_to_keep_values_from_being_found(
    performed, ada, args, masked, hidden, edited
):
    one = performed(args, masked, asked={"other": "arguments"} if edited else None)
    cy = person("Cy")
    assert found(ada, text=hidden) == 1
    assert found(cy) == 1
    if not edited or "again" not in one.args:
        assert found(cy, text=hidden) == 0


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("args", "masked", "asked"),
    [
        ({"pin": "X9"}, "args.pin", "pin = X9"),
        ({"pin": True}, "args.pin", "pin = true"),
        ({"to": {"last": None, "n": 5}}, "args.to", "to.last = null"),
        ({"to": {"last": "", "n": 5}}, "args.to", 'to.last = ""'),
        ({"pay": [6, 7]}, "args.pay.1", "pay >= 7"),
        ({"lines": [{"pay": 5}, {"pay": 6}]}, "args.lines.0.pay", "lines.pay <= 5"),
        ({"body": '{"to":"X9"}'}, "args.to", r'body = "{\"to\":\"X9\"}"'),
        ({"note": f"To {IBAN}.", "account": IBAN}, "args.account", f"note = To {IBAN}."),
    ],
)
def test_nor_from_being_compared(performed, ada, args, masked, asked):
    performed(args, masked)
    assert found(ada, where=asked) == 1
    assert found(person("Cy"), where=asked) == 0


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ({"pin": "X9", "size": "X9"}, {"text": "X9"}),
        ({"pin": "X9", "size": "X9"}, {"text": "x9 Refund"}),
        ({"phone": "X9", "size": "X9"}, {"text": "X9"}),
        ({"pin": "refund", "size": 1}, {"text": "refund"}),
        ({"pin": "payments"}, {"text": "payments"}),
        ({"pin": 5, "pay": 5}, {"where": "pay >= 5"}),
        ({"lines": ["X9", "X9"]}, {"where": "lines = X9"}),
        ({"pin": "[urgent] call", "body": '{"size":"X9"}'}, {"text": '{"size":"X9"}'}),
        ({"pin": IBAN, "account": IBAN.lower()}, {"text": IBAN.lower()}),
        ({"pin": "abc", "note": "abc d"}, {"where": "note = abc d"}),
        ({"args": {"pin": IBAN}, "account": IBAN}, {"text": IBAN}),
    ],
)
def test_an_effect_is_found_by_what_it_shows_whatever_it_hides(performed, args, shown):
    """Else who does not find it knows what is hidden."""
    performed(args, "args.pin", "args.lines.0")
    assert found(person("Cy"), **shown) == 1


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("asked", [{"text": "X9"}, {"where": "size = X9"}])
def test_what_is_counted_does_not_tell_how_many_hide_it(performed, monkeypatch, asked):
    monkeypatch.setattr(search, "PAGE", 2)
    cy = person("Cy")
    for shown in range(4):
        counts = Listing.of(filters(**asked), cy).counts()
        assert bool(counts) is (shown <= 2)
        performed({"pin": "X9", "size": "X9"}, "args.pin")
        performed({"pin": "X9", "size": "Y8"}, "args.pin")


def test_policies_in_force_hide_what_may_hold_for_the_agent(waiting_run, settings):
    settings.APPROVALS_POLICIES = [
        {"name": name, "group": "finance", "agent": agent, "masked": [f"args.{field}"]}
        for name, agent, field in (
            ("one", "refund_*", "to"),
            ("two", "m[a-e]iling", "pin"),
            ("three", "m?il%", "size"),
        )
    ]
    args = {"to": "T1", "pin": "P1", "size": "S1"}
    for agent in ("refund_desk", "mailing", "refunds"):
        effect(waiting_run(agent=agent), args)
    cy = person("Cy")
    assert [found(cy, text=word) for word in ("T1", "P1", "S1")] == [2, 2, 3]


def test_a_value_is_hidden_wherever_it_stands_also_where_the_policy_holds_under_conditions(
    waiting_run, settings, client
):
    """Its field is hidden on these pages, so it must not be told by what is found elsewhere."""
    settings.APPROVALS_POLICIES = [
        {"name": "large", "group": "x", "when": ["args.n > 5"], "masked": ["args.account"]}
    ]
    run = waiting_run()
    args = {"n": 1, "account": IBAN, "again": IBAN}
    ask(run, pending(ours(args=args)))
    one = effect(run, args)
    client.force_login(person("Cy"))
    assert IBAN not in html_of(client.get(reverse("ledger:effect", args=[one.uid])))
    assert reverse("ledger:effect", args=[one.uid]) not in html_of(
        client.get("/ledger/", {"q": IBAN})
    )


@pytest.mark.parametrize("typed", ["4222222222222", "04222222222222", "4222222222222.0"])
def test_the_number_of_a_card_is_not_found_however_it_is_written(waiting_run, client, typed):
    effect(waiting_run(), {"note": 4222222222222})
    client.force_login(person("Cy"))
    assert "hidden from you" in html_of(client.get("/ledger/", {"q": typed}))


@pytest.mark.parametrize(
    ("given", "typed", "shown"),
    [
        ({"pin": "X9"}, "pin:X9", 0),
        ({"size": "X9", "pin": "X9"}, "size:X9", 1),
        ({"lines": ["X9", "Y8"]}, "lines:X9", 0),
        ({"lines": ["X9", "Y8"]}, "lines:Y8", 1),
        ({"note": IBAN, "account": IBAN}, f"note:{IBAN}", 0),
        ({"body": "[5]"}, "body:[5]", 0),
        ({"ok": True, "pin": True}, "ok:true", 1),
    ],
)
def test_runs_are_found_in_the_same_way(waiting_run, rule, client, ada, given, typed, shown):
    rule(masked=["args.pin", "args.0", "args.account"])
    run = waiting_run(input=given)
    ask(run, pending(ours(args={"account": IBAN})))
    rule(masked=[])
    address = reverse("runs:run", args=[run.pk])
    for reader, seen in ((person("Cy"), shown), (ada, 1)):
        client.force_login(reader)
        assert (address in html_of(client.get(reverse("runs:list"), {"q": typed}))) is bool(seen)


@pytest.mark.usefixtures("either_way")
def test_what_is_shown_is_found_behind_many_that_hide_it(waiting_run, monkeypatch) -> None:
    """Page by page, in both directions: whether an effect is shown is asked of a part of them."""
    monkeypatch.setattr(search, "PAGE", 2)
    ben = person("Ben")
    run = waiting_run(started_by=ben)
    shown = []
    for number in range(60):
        is_shown = number in (3, 4, 30, 31, 57)
        one = effect(run, {"note" if is_shown else "password": "zebra", "n": number})
        shown += [one.pk] if is_shown else []
    listing = Listing.of(filters(text="zebra"), ben)
    assert [each.pk for each in listing.page()] == shown[::-1]
    pages, after = [], None
    while page := listing.page(after=after, limit=2):
        pages.append([each.pk for each in page])
        after = Place.of(page[-1])
    assert pages == [shown[:2:-1], shown[2:0:-1], shown[:1]]
    (last,) = listing.page(after=after and Place.of(Effect.objects.get(pk=shown[1])), limit=2)
    assert [each.pk for each in listing.page(before=Place.of(last), limit=2)] == shown[2:0:-1]
    assert listing.counts() == {}

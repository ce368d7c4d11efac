"""What a policy masks is not to be read on the pages of the run and its effects either."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from django.urls import reverse

from accounts import clock
from accounts.models import SavedView
from approvals.models import Request
from audit import canonical
from ledger.models import Drift, Effect
from runs import masking
from runs.masking import Cloak
from runs.models import Operation, Run
from runs.trace import states
from tests.approvals.conftest import ask, ours, pending
from tests.support.people import person
from tests.support.web import html_of

pytestmark = pytest.mark.django_db
IBAN = "DE02120300000000202051"
SALARY = 52_345
ARGS = {"order_id": "A-7", "to": {"iban": IBAN}, "salary": SALARY}
STATE = {
    "note": f"Pay it to {IBAN}, please.",
    "elsewhere": {"account": IBAN, "again": SALARY},
    "messages": [
        {"tool_calls": [{"args": {"to": {"iban": "another"}}}]},
        {"arguments": json.dumps({"to": {"iban": "a third"}, "order_id": "A-7"})},
    ],
}
SECRETS: tuple[str, ...] = (IBAN, str(SALARY), "another", "a third")


@pytest.fixture
def run(waiting_run, rule):
    rule(masked=["args.to.iban: treasury", "args.salary"])
    return waiting_run(input=STATE)


@pytest.fixture
def asking(run):
    ask(run, pending(ours(args=ARGS)))
    return run


def sent(run: Run, args: Mapping[str, object], **more: object) -> Effect:
    """An effect of a run, sent once."""
    return Effect.objects.create(
        run=run,
        tool="payments.refund",
        args=args,
        args_hash=canonical.digest(args),
        idempotency_key="k",
        provider_key="k",
        step="s@t",
        status="sent",
        idempotency="provider",
        fence=1,
        attempts=1,
        **more,
    )


@pytest.fixture
def paid(asking):
    return sent(asking, ARGS, result={"paid_to": IBAN})


def pages(run, monkeypatch) -> list[str]:
    saved = states.State(
        ns="",
        id="c2",
        parent_id="c1",
        child_id="",
        at=clock.now(),
        step=1,
        fence=1,
        ran="a",
        due="b",
        values=dict(STATE),
        pending=(states.Written(task="t", node="n", channel="x", value=STATE),),
    )
    monkeypatch.setattr(states, "load", lambda run_id, checkpoint_id, **_: saved)
    effects = Effect.objects.filter(run=run)
    return [
        reverse("runs:tab", args=[run.pk, "state"]),
        reverse("runs:checkpoint", args=[run.pk, "c2"]),
        reverse("runs:checkpoint_file", args=[run.pk, "c2"]),
        reverse("runs:checkpoint_file", args=[run.pk, "c2"]) + "?of=written",
        reverse("runs:export", args=[run.pk]),
        reverse("ledger:list"),
        *(reverse("ledger:effect", args=[each.uid]) for each in effects),
    ]


@pytest.fixture
def paid_anew(paid):
    """Its step came back and asked for the same with another order."""
    drift = Drift.objects.create(
        run=paid.run,
        before=paid,
        key="other",
        args=ARGS | {"order_id": "A-8"},
        args_hash="other",
        step=paid.step,
        tool=paid.tool,
        fence_before=1,
        fence=2,
        stopped=False,
    )
    Effect.objects.update(status="in_doubt")
    return drift


@pytest.mark.parametrize("asked", [False, True])
def test_who_does_not_see_a_field_when_asked_does_not_read_it_on_the_pages_of_the_run(
    client, ben, request, run, asked, monkeypatch
):
    client.force_login(ben)
    if asked:
        request.getfixturevalue("paid")
        secrets = SECRETS
    else:  # nothing is known of the values yet, but the fields are
        run.input = {"to": {"iban": IBAN}, "salary": SALARY}
        run.save()
        monkeypatch.setitem(globals(), "STATE", run.input)
        secrets = SECRETS[:2]
        ask(run, pending("something else"))
    found = pages(run, monkeypatch)
    assert len(found) == 6 + asked
    for page in found:
        answer = client.get(page)
        assert answer.status_code == 200, page
        shown = html_of(answer)
        for secret in secrets:
            assert secret not in shown, (page, secret)
    assert "hidden (policy)" in html_of(client.get(found[0]))


@pytest.mark.parametrize("mask", ["args", "payload.args.code", "args.code"])
def test_arguments_are_hidden_as_the_field_that_the_policy_names(client, ben, rule, run, mask):
    """Also values too short to be hidden wherever they stand. No token has a hyphen."""
    rule(masked=[mask])
    Run.objects.filter(pk=run.pk).update(input={})
    given = {"code": "X-9"}
    ask(run, pending(ours(args=given)))
    one = sent(run, given)
    address = reverse("ledger:effect", args=[one.uid])
    client.force_login(ben)
    for page in (address, reverse("ledger:list"), reverse("runs:export", args=[run.pk])):
        assert "X-9" not in html_of(client.get(page)), page
    assert address not in html_of(client.get("/ledger/", {"q": "X-9"}))
    client.force_login(person("Otto", "operator"))
    assert address in html_of(client.get("/ledger/", {"q": "X-9"}))


def test_both_sides_of_a_drift_and_doubts_hide_it_too(client, ben, paid_anew):
    client.force_login(ben)
    run = paid_anew.run_id
    for page in (
        reverse("ledger:drift", args=[paid_anew.uid]),
        reverse("ledger:effect", args=[paid_anew.before.uid]),
        reverse("ledger:undo", args=[run]),
        reverse("ledger:reconcile"),
        reverse("runs:run", args=[run]),
        *(reverse("runs:tab", args=[run, tab]) for tab in ("effects", "approvals", "timeline")),
    ):
        text = html_of(client.get(page, follow=True))
        assert not [secret for secret in (IBAN, str(SALARY)) if secret in text], page


@pytest.mark.parametrize(
    ("groups", "compared", "told"),
    [
        (["approver"], "fee >= 50000", False),
        (["approver"], "fee = 52345", False),
        (["approver"], "old.fee >= 50000", False),
        (["approver"], "order_id = A-7", True),
        (["approver", "treasury"], "fee >= 50000", True),
        (["operator"], "fee >= 50000", True),
    ],
)
def test_what_is_masked_cannot_be_found_out_by_comparing_it(client, rule, groups, compared, told):
    rule(masked=["args.fee: treasury"])
    client.force_login(person("Tess", *groups))
    page = client.get(reverse("ledger:list"), {"where": compared})
    assert ("hidden from you" not in html_of(page)) is told


def test_places_in_lists_do_not_help_to_compare_what_is_masked(client, rule):
    rule(masked=["args.lines.0.price", "args.owner"])
    client.force_login(person("Ben"))
    for compared in ("lines.price >= 5", "owner.name = x"):
        assert "hidden from you" in html_of(client.get("/ledger/", {"where": compared}))


def test_members_of_the_named_groups_see_their_fields_and_no_others(client, paid, monkeypatch):
    client.force_login(person("Tess", "treasury", "finance", "approver"))
    for page in pages(paid.run, monkeypatch):
        text = html_of(client.get(page))
        assert IBAN in text or page == reverse("ledger:list"), page
        assert str(SALARY) not in text, page


def test_who_may_look_behind_masks_does_so_here_as_well(client, ada, paid, monkeypatch):
    client.force_login(person("Otto", "operator"))
    for page in pages(paid.run, monkeypatch):
        assert IBAN not in html_of(client.get(page))
    page = reverse("runs:tab", args=[paid.run_id, "state"])
    assert IBAN in html_of(client.get(page + "?reveal=1"))


def test_the_policy_of_then_goes_on_to_hide(client, ben, asking, rule, monkeypatch):
    rule(masked=[])
    client.force_login(ben)
    assert IBAN not in html_of(client.get(pages(asking, monkeypatch)[0]))


def test_a_policy_for_other_agents_hides_nothing(client, ben, waiting_run, settings):
    settings.APPROVALS_POLICIES = [
        {"name": "other", "group": "finance", "agent": "other_*", "masked": ["args.salary"]}
    ]
    run = waiting_run(input={"salary": SALARY})
    ask(run, pending(ours()))
    client.force_login(ben)
    page = client.get(reverse("runs:tab", args=[run.pk, "state"]))
    assert str(SALARY) in page.content.decode()


def test_short_values_are_hidden_by_their_places_alone():
    cloak = Cloak(paths=frozenset({("pin",), ("a", "b")}))
    shown = masking.mask({"pin": 7, "x": 7, "a": {"b": "y"}, "b": "y"}, cloak)
    assert shown.value == {
        "pin": "hidden (policy)",
        "x": 7,
        "a": {"b": "hidden (policy)"},
        "b": "y",
    }
    assert shown.hidden == 2


# --- searching ------------------------------------------------------------------------------------


def found(client, typed: str) -> bool:
    """Whether the list of runs shows the run of these tests for what was typed."""
    return "Refund order 7" in html_of(client.get(reverse("runs:list"), {"q": typed}))


@pytest.mark.parametrize(
    "typed",
    [
        f"elsewhere.account:{IBAN}",
        f"elsewhere.account:{IBAN.lower()}",
        f'note:"Pay it to {IBAN}, please."',
        f"elsewhere.again:{SALARY}",
        f"elsewhere.again=0{SALARY}.0",
    ],
)
def test_nobody_finds_a_run_by_a_value_that_it_hides_from_them(client, ben, asking, typed):
    client.force_login(ben)
    assert not found(client, typed)
    client.force_login(person("Tess", "treasury", "finance", "approver"))
    assert found(client, typed) is (str(SALARY) not in typed)
    client.force_login(person("Otto", "operator"))
    assert found(client, typed)


def test_the_answer_is_the_same_as_where_nobody_has_the_value(client, ben, asking):
    client.force_login(ben)
    hidden, absent = (
        html_of(client.get(reverse("runs:list"), {"q": f"elsewhere.account:{iban}"}))
        for iban in (IBAN, "DE99999999999999999999")
    )
    assert "No run for these filters" in hidden
    assert "hidden from you" not in hidden + absent


def test_what_a_run_shows_is_found_though_other_fields_of_it_are_hidden(client, ben, rule, run):
    Run.objects.filter(pk=run.pk).update(input=STATE | {"order_id": "A-7", "to": {"name": "Jo"}})
    ask(run, pending(ours(args=ARGS)))
    client.force_login(ben)
    assert found(client, "order_id:A-7")
    assert found(client, "to.name:Jo")


def test_the_policy_of_then_goes_on_to_keep_values_and_fields_from_being_found(
    client, ben, asking, rule
):
    Run.objects.filter(pk=asking.pk).update(input=STATE | {"salary": 1, "to": {"iban": "x"}})
    rule(masked=[])
    client.force_login(ben)
    for typed in (f"elsewhere.account:{IBAN}", "salary:1", "to.iban:x"):
        assert not found(client, typed), typed
    assert found(client, "elsewhere.again:52345") is False


@pytest.mark.parametrize(
    "asked",
    [
        {"where": f"account = {IBAN}"},
        {"where": f"again = {SALARY}"},
        {"where": f"again >= {SALARY - 1}"},
        {"where": f"lines.pay <= {SALARY}, order_id = A-7"},
        {"q": IBAN.lower()},
        {"q": f"A-7 {SALARY}"},
    ],
)
def test_nobody_finds_an_effect_by_a_value_that_its_run_hides_from_them(client, ben, paid, asked):
    Effect.objects.filter(pk=paid.pk).update(
        args=ARGS | {"account": IBAN, "again": SALARY, "lines": [{"pay": SALARY}], "cents": 60_000}
    )
    address = reverse("ledger:effect", args=[paid.uid])
    client.force_login(ben)
    assert address not in html_of(client.get("/ledger/", asked))
    assert address in html_of(
        client.get("/ledger/", {"q": "A-7", "where": "cents >= 5, order_id = A-7"})
    )
    client.force_login(person("Otto", "operator"))
    assert address in html_of(client.get("/ledger/", asked))


@pytest.mark.parametrize("input_of_the_run", [False, True])
def test_nobody_finds_an_effect_by_a_value_that_is_hidden_for_its_name(
    client, paid, input_of_the_run
):
    secret, shown = {"customer": {"homePhone": "+4912345"}}, {"order_id": "A-7", "size": "XL"}
    Effect.objects.filter(pk=paid.pk).update(args=shown if input_of_the_run else shown | secret)
    if input_of_the_run:
        Run.objects.filter(pk=paid.run_id).update(input=secret)
    address = reverse("ledger:effect", args=[paid.uid])
    for name, found in (("Cy", False), ("Otto", True)):
        client.force_login(person(name, *(["operator"] if found else [])))
        assert (address in html_of(client.get("/ledger/", {"q": "+4912345"}))) is found
        assert address in html_of(client.get("/ledger/", {"q": "A-7 xl"}))


@pytest.mark.parametrize(
    "asked",
    [
        {"q": "eve@example.org"},
        {"q": "5 4242424242424242"},  # together they are no number of a card
        {"where": "note = eve@example.org"},
        {"where": 'note = "4242424242424242"'},
        {"where": "order_id = A-7, note = 4242424242424242.0"},
    ],
)
def test_what_is_hidden_for_what_it_is_is_not_searched_for(client, paid, asked):
    client.force_login(person("Cy"))
    assert "hidden from you" in html_of(client.get("/ledger/", asked))
    client.force_login(person("Otto", "operator"))
    assert "hidden from you" not in html_of(client.get("/ledger/", asked))


@pytest.mark.parametrize("typed", ["Ödön", "İpek"])
@pytest.mark.parametrize("name", ["homePhone", "salary", "seen"])
def test_letters_that_are_no_ascii_do_not_help_to_find_what_is_hidden(
    client, ben, paid, name, typed
):
    """The database may know no small letters for them, and Python does."""
    Effect.objects.filter(pk=paid.pk).update(args={name: typed, "order_id": "A-7"})
    Request.objects.update(payload=ours(args={"salary": typed}))
    for user, found in ((ben, False), (person("Otto", "operator"), True)):
        client.force_login(user)
        page = html_of(client.get("/ledger/", {"q": typed}))
        assert (reverse("ledger:effect", args=[paid.uid]) in page) is found


@pytest.mark.parametrize(
    ("args", "typed"),
    [
        (ARGS | {"salary": 60_001}, "60001"),  # as who approved it has changed it
        (ARGS | {"salary": 123}, "123"),
        (ARGS | {"salary": 60_001.0}, "60001"),
        ({"to": [{"iban": "another"}], "order_id": "A-7"}, "another"),
        ({"to": {"iban": {"bank": "B-1"}}, "order_id": "A-7"}, "B-1"),
    ],
)
@pytest.mark.parametrize("asked", [True, False])
def test_nor_by_what_stands_in_a_field_that_is_hidden(
    client, ben, request, run, args, typed, asked
):
    paid = request.getfixturevalue("paid")
    Effect.objects.filter(pk=paid.pk).update(args=args)
    if not asked:
        Request.objects.all().delete()
        run.started_by = ben
        run.save()
    address = reverse("ledger:effect", args=[paid.uid])
    client.force_login(ben)
    assert typed not in html_of(client.get(address))
    assert address in html_of(client.get("/ledger/", {"q": "A-7"}))
    assert address not in html_of(client.get("/ledger/", {"q": typed}))
    client.force_login(person("Otto", "operator"))
    assert address in html_of(client.get("/ledger/", {"q": typed}))


def shared(query: str, path: str = "/runs/") -> None:
    SavedView.objects.create(
        owner=person("Rut"), path=path, query=query, name="Their view", shared=True
    )


@pytest.mark.parametrize(
    ("path", "query", "offered"),
    [
        ("/runs/", "q=account%3ADE0212030000&status=failed", False),
        ("/runs/", "q=DE0212030000", False),
        ("/runs/", "q=to.iban%3Ax", False),
        ("/runs/", "status=failed", True),
        ("/ledger/", "where=fee+%3E%3D+52345", False),
        ("/ledger/", "q=DE0212030000", False),
        ("/ledger/", "status=in_doubt", True),
    ],
)
def test_what_others_typed_is_offered_to_nobody_from_whom_it_may_be_hidden(
    client, rule, path, query, offered
):
    rule(masked=["args.to.iban: treasury"])
    shared(query, path)
    client.force_login(person("Ben", "finance"))
    page = html_of(client.get(path))
    assert ("Their view" in page) is offered
    assert ("DE0212030000" in page) is False
    client.force_login(person("Otto", "operator"))
    assert "Their view" in html_of(client.get(path))


@pytest.mark.parametrize("mask", ["args.0", "payload", "args"])
def test_also_where_what_is_masked_has_no_name(client, rule, mask):
    rule(masked=[mask])
    shared("q=DE0212030000", "/ledger/")
    client.force_login(person("Cy"))
    assert "Their view" not in html_of(client.get("/ledger/"))


def test_an_order_to_many_runs_shows_what_was_typed_to_nobody_from_whom_it_may_be_hidden(
    client, rule, waiting_run
):
    rule(masked=["args.to.iban: treasury"])
    waiting_run(input={"account": "DE0212030000"})
    otto = person("Otto", "operator")
    ordered = Operation.objects.create(
        kind="cancel", reason="Twice.", asked_by=otto, query="q=account%3ADE0212030000", token="t"
    )
    page = reverse("runs:operation", args=[ordered.pk])
    for user, shown in ((person("Cy"), False), (otto, True)):
        client.force_login(user)
        assert ("DE0212030000" in html_of(client.get(page))) is shown

"""The pages of policies and delegations, without a browser."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse
from django.utils import timezone, translation

from approvals import policy
from approvals.models import Delegation, PolicyVersion
from approvals.policies import versions
from approvals.policies.form import PolicyForm
from approvals.policies.rule import Policy
from audit.models import Entry
from tests.support.people import PASSWORD, person
from tests.support.web import html_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def rut():
    return person("Rut", "finance")


@pytest.fixture
def as_rut(client, rut):
    """The administrator, who signed in a moment ago."""
    client.post(reverse("account_login"), {"login": rut.email, "password": PASSWORD})
    return client


def edit_of(name: str) -> str:
    return reverse("approvals:policy_edit", args=[name])


def sent(policy_name: str = "default", /, **changes: object) -> dict[str, object]:
    """What the form of a policy in force sends, changed."""
    book = policy.in_force()
    found = book.get(policy_name) or Policy(name="", group="finance")
    values = PolicyForm.written(found, place=1, seen=book.version)
    ticked = {key: "on" if value is True else value for key, value in values.items()}
    whole = {key: value for key, value in ticked.items() if value is not False}
    return whole | {"reason": "Audit finding 12"} | changes


def test_a_change_is_a_new_version_that_holds_at_once(as_rut, rut):
    response = as_rut.post(edit_of("default"), sent(quorum="2", escalation="20m legal"))
    assert response.status_code == 302, text_of(response)
    assert policy.in_force().policies[-1].quorum == 2
    seed, changed = PolicyVersion.objects.order_by("number")
    assert (seed.number, seed.by_label, changed.by) == (1, "settings", rut)
    assert changed.reason == "Audit finding 12"
    entry = Entry.objects.get(verb="policy.changed")
    assert (entry.data["before"]["quorum"], entry.data["after"]["quorum"]) == (1, 2)


def test_an_untouched_form_says_what_is_in_force_already(as_rut, settings):
    settings.APPROVALS_POLICIES = [
        {
            "name": "large",
            "groups": ["finance", "legal"],
            "people": ["Ben@example.com"],
            "agent": "refund_*",
            "when": ["args.amount_cents > 50000", "args.to outside example.com, *.example.org"],
            "excluded": ["requester"],
            "deadline": timedelta(hours=8),
            "hours": "Mon-Fri 09:00-17:00 Europe/Berlin",
            "reminders": [timedelta(hours=2), timedelta(minutes=30)],
            "escalation": ["4h legal-leads"],
            "reject_reasons": ["Wrong amount", "No receipt"],
            "reauthenticate_within": timedelta(minutes=10),
            "passkey": True,
            "answers": {"approve": {"go": [1, "two"]}},
            "editable": ["amount_*"],
            "summary": "Refund {amount} for order {args.order_id}",
            "key_facts": ["args.order_id"],
            "masked": ["args.iban: treasury"],
        }
    ]
    response = as_rut.post(edit_of("large"), sent("large"))
    assert response.status_code == 422
    assert "This is what is in force already" in text_of(response)
    assert not PolicyVersion.objects.exists()


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("when", "args.amount_cents >", "a value is needed"),
        ("when", "amount > 5", "is not a field"),
        ("when", "args.x ~ 5", "is not a condition"),
        ("hours", "Mon-Fri 9-17", "are not working hours"),
        ("hours", "Mon-Fri 09:00-17:00 Europe/Atlantis", "is not a time zone"),
        ("deadline", "soon", "is not a length of time"),
        ("deadline_at", "25:00", "is not a time of day"),
        ("escalation", "4h", "is not how long to wait and a group"),
        ("escalation", "2d legal", "every step must come before the deadline"),
        ("reminders", "2d", "must be shorter than the deadline"),
        ("masked", "iban: x", "is not a field and the groups"),
        ("summary", "Refund {args.__class__", "a brace is open"),
        ("summary", "Refund {user}", "is not a field"),
        ("answers", "{", "This is not JSON"),
        ("answers", '{"approve": null}', "must be JSON"),
        ("passkey", "on", "how old may it be"),
        ("quorum", "0", "greater than or equal to 1"),
        ("reason", "", "A reason is required"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_saved(as_rut, field, text, said):
    name = "other" if field == "when" else "default"
    address = reverse("approvals:policy_new") if field == "when" else edit_of("default")
    given = sent("", name=name) if field == "when" else sent()
    response = as_rut.post(address, given | {field: text})
    assert response.status_code == 422
    assert said in text_of(response)
    assert not PolicyVersion.objects.exists()


def test_the_second_of_two_admins_is_told_and_keeps_what_they_entered(as_rut, rut):
    opened = sent(quorum="3")
    as_rut.post(edit_of("default"), sent(quorum="2"))
    seen = PolicyVersion.objects.latest("number").number
    as_rut.post(edit_of("default"), sent(risk="high"))
    response = as_rut.post(edit_of("default"), opened | {"seen": seen})
    assert response.status_code == 409
    assert "Rut changed the policies since you opened them: changed default." in text_of(response)
    assert 'name="quorum" value="3"' in html_of(response)
    assert policy.in_force().policies[-1].quorum == 2
    assert Entry.objects.filter(verb="policy.change_refused", allowed=False).count() == 1


def test_a_policy_is_added_moved_renamed_and_removed(as_rut):
    new = reverse("approvals:policy_new")
    as_rut.post(new, sent("", name="first", agent="a*"))
    as_rut.post(new, sent("", name="second", agent="b*", place="2"))
    assert [each.name for each in policy.in_force().policies] == ["first", "second", "default"]
    as_rut.post(edit_of("second"), sent("second", name="now first", place="1"))
    assert [each.name for each in policy.in_force().policies] == ["now first", "first", "default"]
    remove = reverse("approvals:policy_remove", args=["first"])
    assert "Remove this policy?" in text_of(as_rut.get(remove))
    seen = policy.in_force().version
    as_rut.post(remove, {"seen": seen, "reason": "Not needed"})
    assert [each.name for each in policy.in_force().policies] == ["now first", "default"]
    verbs = Entry.objects.filter(verb__startswith="policy.").order_by("pk")
    assert [each.verb for each in verbs] == [
        "policy.added",
        "policy.added",
        "policy.changed",
        "policy.removed",
    ]


def test_the_default_cannot_be_removed_and_has_no_conditions(as_rut, rut):
    remove = reverse("approvals:policy_remove", args=["default"])
    assert as_rut.get(remove).status_code == 404
    assert 'name="when"' not in html_of(as_rut.get(edit_of("default")))


def test_two_policies_of_one_name_are_refused(as_rut):
    response = as_rut.post(reverse("approvals:policy_new"), sent("", name="default"))
    assert response.status_code == 422
    assert "There is another policy called default." in text_of(response)


def test_a_change_needs_a_recent_proof_and_keeps_what_was_entered(client, rut):
    client.force_login(rut)  # whenever that was
    response = client.post(edit_of("default"), sent(quorum="2", passkey=""))
    assert response.status_code == 302
    assert "reauthenticate" in response.url
    assert not PolicyVersion.objects.exists()
    client.post(response.url, {"password": PASSWORD})
    page = client.get(edit_of("default"))
    assert "Nothing was saved yet" in text_of(page)
    assert 'name="quorum" value="2"' in html_of(page)
    assert not PolicyVersion.objects.exists()


@pytest.mark.parametrize("name", ["Ada", "Ben", "Cy", "Dee"])
def test_only_admins_change_policies(client, name):
    client.force_login(person(name, "finance"))
    for address in (edit_of("default"), reverse("approvals:policy_new")):
        assert client.get(address).status_code == 403
        assert client.post(address, sent(quorum="2")).status_code == 403
    assert not PolicyVersion.objects.exists()


@pytest.mark.parametrize(("name", "status"), [("Cy", 200), ("Rut", 200), ("Ben", 403)])
def test_who_reads_everything_reads_policies_history_and_tries_out(client, rut, name, status):
    reader = rut if name == "Rut" else person(name)
    client.force_login(reader)
    for route in ("policies", "policy_history", "policy_try"):
        assert client.get(reverse(f"approvals:{route}")).status_code == status


def test_the_history_shows_who_changed_what_and_why(as_rut):
    as_rut.post(edit_of("default"), sent(quorum="2"))
    as_rut.post(edit_of("default"), sent(risk="high"))
    history = text_of(as_rut.get(reverse("approvals:policy_history")))
    assert "Version 3" in history
    assert "changed default by Rut" in history
    assert "Audit finding 12" in history
    page = text_of(as_rut.get(reverse("approvals:policy_version", args=[2])))
    assert "What changed since version 1" in page
    assert "default.quorum" in page
    assert as_rut.get(reverse("approvals:policy_version", args=[9])).status_code == 404


def test_a_stored_version_cannot_be_altered(as_rut):
    as_rut.post(edit_of("default"), sent(quorum="2"))
    for act in (
        lambda: PolicyVersion.objects.update(what="else"),
        lambda: PolicyVersion.objects.filter(number=1).delete(),
    ):
        with pytest.raises(DatabaseError, match="only grow"), transaction.atomic():
            act()


# --- the dry run ----------------------------------------------------------------------------------


def tried(client, **asked: str):
    given = {"agent": "refund_desk", "node": "", "tool": "", "args": "", "requester": ""}
    return text_of(client.post(reverse("approvals:policy_try"), given | asked))


@pytest.fixture
def tiers(settings):
    """Large refunds need two people of legal, small ones one of finance."""
    settings.APPROVALS_POLICIES = [
        {"name": "large", "group": "legal", "quorum": 2, "when": ["args.amount_cents > 50000"]},
    ]


def test_the_dry_run_says_which_policy_holds_why_and_who_could_decide(as_rut, ben, tiers):
    text = tried(as_rut, tool="payments.refund", args='{"amount_cents": 60000}')
    assert "Needs 2 of legal, not who started the run" in text
    assert "args.amount_cents is more than 50000" in text
    assert "Nobody can decide" in text
    text = tried(as_rut, tool="payments.refund", args='{"amount_cents": 500}', requester=ben.email)
    assert "Needs 1 of finance, not who started the run" in text
    assert "Could approve Rut" in text
    assert "Could not Ben: started the run" in text


def test_the_dry_run_says_that_doubt_lets_both_hold(as_rut, tiers):
    text = tried(as_rut, tool="payments.refund", args='{"amount_cents": "60000"}')
    assert "large and default" in text
    assert "Needs 2 of finance and legal" in text
    assert "In doubt" in text


def test_a_whole_question_is_read_in_its_shape(as_rut, tiers):
    batch = (
        '{"action_requests": [{"name": "a", "args": {"amount_cents": 1}},'
        ' {"name": "b", "args": {"amount_cents": 60000}}],'
        ' "review_configs": [{"action_name": "a", "allowed_decisions": ["approve"]},'
        ' {"action_name": "b", "allowed_decisions": ["approve"]}]}'
    )
    text = tried(as_rut, args=batch)
    assert "Needs 1 of finance" in text
    assert "Needs 2 of legal" in text


def test_what_is_no_json_is_said(as_rut):
    assert "This is not JSON" in tried(as_rut, args="{")


# --- delegations ----------------------------------------------------------------------------------


def absence(**changes: object) -> dict[str, object]:
    now = timezone.now()
    return {
        "starts_at": (now - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M"),
        "ends_at": (now + timedelta(days=7)).strftime("%Y-%m-%dT%H:%M"),
        "agents": "refund_*",
        "reason": "Holiday",
    } | changes


PAGE = "/approvals/delegations/"


def test_somebody_absent_delegates_on_the_page_and_either_ends_it(client, ben, eve):
    client.post(reverse("account_login"), {"login": ben.email, "password": PASSWORD})
    assert 'name="absent"' not in html_of(client.get(PAGE))
    assert client.post(PAGE, absence(stand_in=eve.pk)).status_code == 302
    made = Delegation.objects.get()
    assert (made.absent, made.stand_in, made.made_by) == (ben, eve, ben)
    assert "Eve for Ben" in text_of(client.get(PAGE))
    client.force_login(eve)
    end = reverse("approvals:delegation_end", args=[made.pk])
    assert client.post(end, {"reason": ""}).status_code == 422
    assert client.post(end, {"reason": "Back early"}).status_code == 302
    assert Delegation.objects.get().ended_by == eve
    assert client.post(end, {"reason": "Again"}).status_code == 409


def test_an_admin_delegates_for_others(as_rut, ben, eve):
    assert as_rut.post(PAGE, absence(absent=ben.pk, stand_in=eve.pk)).status_code == 302
    assert Entry.objects.get(verb="delegation.made").data["absent"] == "Ben"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ends_at": "2020-01-01T00:00"}, "The end must be after the beginning."),
        ({"starts_at": "2019-01-01T00:00", "ends_at": "2020-01-01T00:00"}, "has passed already"),
        ({"ends_at": "2120-01-01T00:00"}, "At most 366 days"),
        ({"agents": " , "}, "Name the agents"),
        ({"reason": ""}, "A reason is required."),
        ({"stand_in": ""}, "This field is required."),
    ],
)
def test_a_delegation_that_cannot_be_is_refused(client, ben, eve, changes, said):
    client.post(reverse("account_login"), {"login": ben.email, "password": PASSWORD})
    response = client.post(PAGE, absence(stand_in=eve.pk) | changes)
    assert response.status_code == 422
    assert said in text_of(response)
    assert not Delegation.objects.exists()


def test_somebody_elses_delegation_is_not_shown(client, ben, eve, as_rut):
    as_rut.post(PAGE, absence(absent=ben.pk, stand_in=eve.pk))
    client.force_login(person("Flo", "finance", "approver"))
    assert "Eve for Ben" not in text_of(client.get(PAGE))
    made = Delegation.objects.get()
    assert client.get(reverse("approvals:delegation_end", args=[made.pk])).status_code == 404


@pytest.mark.parametrize(
    ("kept", "german"),
    [
        ("changed small refunds", "small refunds geändert"),
        ("changed small refunds, now refunds", "small refunds geändert, jetzt refunds"),
        ("added {x}", "{x} hinzugefügt"),
        ("removed refunds", "refunds entfernt"),
        ("as the settings had them", "wie die Einstellungen sie hatten"),
        ("something else", "something else"),
    ],
)
def test_what_a_version_changed_is_told_in_the_language_of_the_reader(kept, german):
    version = PolicyVersion(what=kept)
    assert versions.told(version) == kept
    with translation.override("de"):
        assert versions.told(version) == german

"""Accounts from the command line."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command

from accounts.models import User
from audit.models import Entry

pytestmark = pytest.mark.django_db


def person(*arguments: str, typed: str = "", monkeypatch=None) -> str:
    if monkeypatch:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    said = io.StringIO()
    call_command("person", *arguments, stdout=said)
    return said.getvalue().strip()


def test_the_first_person_is_made_with_a_name_groups_and_a_password(monkeypatch):
    said = person(
        "Ada@Example.com", "--name=Ada Lovelace", "--groups=operator,treasury", "--make-groups",
        "--password-stdin", typed="correct horse battery\n", monkeypatch=monkeypatch,
    )  # fmt: skip

    ada = User.objects.get(email="ada@example.com")
    assert said == "ada@example.com (Ada Lovelace) is made; groups: operator, treasury."
    assert (ada.first_name, ada.last_name) == ("Ada", "Lovelace")
    assert ada.check_password("correct horse battery")
    assert ada.has_perm("runs.start_run")
    assert not Group.objects.get(name="treasury").permissions.exists()


def test_what_is_not_named_stays(monkeypatch):
    person(
        "ada@example.com", "--name=Ada", "--groups=operator", "--password-stdin",
        typed="correct horse battery", monkeypatch=monkeypatch,
    )  # fmt: skip

    assert person("ada@example.com", "--groups=auditor,approver") == (
        "ada@example.com (Ada) is changed; groups: approver, auditor."
    )
    assert "deactivated" in person("ada@example.com", "--deactivate")

    ada = User.objects.get(email="ada@example.com")
    assert (ada.first_name, ada.may_sign_in) == ("Ada", False)
    assert ada.check_password("correct horse battery")
    assert "groups: none, so they may do nothing" in person("ada@example.com", "--groups=")
    assert User.objects.get(email="ada@example.com").groups.count() == 0
    person("ada@example.com", "--activate")
    assert User.objects.get(email="ada@example.com").may_sign_in


def test_every_change_is_in_the_audit_log_and_no_password_is(monkeypatch):
    person(
        "ada@example.com", "--groups=operator", "--password-stdin",
        typed="correct horse battery", monkeypatch=monkeypatch,
    )  # fmt: skip
    person("ada@example.com", "--groups=auditor", "--deactivate")
    person("ada@example.com", "--groups=auditor", "--deactivate")  # nothing is left to change

    made, changed = Entry.objects.filter(verb="person.changed").order_by("id")
    assert made.actor_label == "command line: person"
    assert made.target_id == str(User.objects.get().pk)
    assert made.data["made"] is True
    assert made.data["password"] == "set"
    assert "horse" not in str(made.data)
    assert changed.data == {
        "email": "ada@example.com",
        "made": False,
        "active": False,
        "added": ["auditor"],
        "removed": ["operator"],
    }


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("ada", "--groups=operator"), "'ada' is not an e-mail address"),
        (("a@b.example", "--groups=operater"), "no group 'operater'. Did you mean 'operator'?"),
        (("a@b.example", "--groups=treasury"), "To make it, add --make-groups."),
        (("a@b.example", "--groups=" + "x" * 151, "--make-groups"), "the name of a group"),
        (("a@b.example", "--name= "), "A name has 1 to 150"),
        (("a@b.example", "--password-stdin"), "The password is refused: This password is too"),
        (("a@b.example", "--activate", "--deactivate"), "not allowed with"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_and_changes_nothing(monkeypatch, arguments, why):
    with pytest.raises(CommandError) as refused:
        person(*arguments, typed="hush\n", monkeypatch=monkeypatch)

    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not User.objects.exists()
    assert not Group.objects.filter(name="treasury").exists()
    assert not Entry.objects.exists()


def test_somebody_without_a_password_is_told_how_to_get_one():
    assert person("ada@example.com", "--groups=operator").endswith(
        "no password: set one with --password-stdin."
    )
    assert not User.objects.get().has_usable_password()

"""The four groups hold what the table says, whatever happened to the database before."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command

from accounts import groups
from tests.support.people import person

pytestmark = pytest.mark.django_db


def held(name: str) -> set[str]:
    pairs = Group.objects.get(name=name).permissions.values_list(
        "content_type__app_label", "codename"
    )
    return {f"{app}.{codename}" for app, codename in pairs}


@pytest.mark.parametrize("name", groups.ALL)
def test_migrating_gives_each_group_every_right_of_the_table(name) -> None:
    # A right whose permission no model declares would be missing here.
    assert held(name) == set(groups.rights_of(name))


def test_an_approver_decides_and_does_not_operate() -> None:
    assert held(groups.APPROVER) == {
        "runs.view_run",
        "ledger.view_effect",
        "approvals.view_request",
        "approvals.decide_request",
        "approvals.report_mishap",
    }


def test_an_operator_does_not_decide_and_an_auditor_changes_nothing() -> None:
    assert "approvals.decide_request" not in held(groups.OPERATOR)
    noting = {"approvals.report_mishap"}  # adds a note and changes nothing
    others = held(groups.AUDITOR) - noting
    assert all("view" in name or "export" in name for name in others)


def test_an_administrator_may_everything_in_the_table() -> None:
    assert held(groups.ADMIN) == {right.name for right in groups.RIGHTS}


def test_ensuring_twice_changes_nothing_and_repairs_what_was_changed_by_hand() -> None:
    operator = Group.objects.get(name=groups.OPERATOR)
    operator.permissions.remove(Permission.objects.get(codename="start_run"))
    operator.permissions.add(Permission.objects.get(codename="export_entry"))
    groups.ensure()
    groups.ensure()
    assert held(groups.OPERATOR) == set(groups.rights_of(groups.OPERATOR))


def test_a_permission_that_does_not_exist_yet_is_skipped() -> None:
    Permission.objects.filter(codename="settle_effect").delete()
    groups.ensure()
    assert "ledger.settle_effect" not in held(groups.OPERATOR)
    assert "runs.start_run" in held(groups.OPERATOR)


def test_every_migration_ends_with_the_groups_in_place() -> None:
    Group.objects.all().delete()
    call_command("migrate", verbosity=0)
    assert held(groups.OPERATOR) == set(groups.rights_of(groups.OPERATOR))


def test_only_administrators_who_may_sign_in_can_grant() -> None:
    person("Rut")
    person("Ada")
    person("Eve", groups.ADMIN, is_active=False)
    person("Max", groups.ADMIN, is_demo=True)
    assert groups.granters() == ["Rut"]

"""The four groups and what each may do, as one table.

`ensure` writes the table into the database after every migration. These four groups hold exactly
what stands here; a person who needs another mix gets a group of another name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

from accounts.models import User
from accounts.speech import later as _

APPROVER = "approver"
OPERATOR = "operator"
AUDITOR = "auditor"
ADMIN = "admin"
ALL = (APPROVER, OPERATOR, AUDITOR, ADMIN)


@dataclass(frozen=True, slots=True)
class Right:
    """One permission, what it lets people do ("You may not …"), and the groups that have it."""

    name: str
    label: str
    groups: tuple[str, ...]


RIGHTS = (
    Right("runs.view_run", _("see runs"), ALL),
    Right("runs.view_every_run", _("see runs of others"), (OPERATOR, AUDITOR, ADMIN)),
    Right("runs.start_run", _("start a run"), (OPERATOR, ADMIN)),
    Right("runs.cancel_run", _("cancel a run"), (OPERATOR, ADMIN)),
    Right("runs.retry_run", _("retry a run"), (OPERATOR, ADMIN)),
    Right("runs.force_resume_run", _("force a run to resume"), (OPERATOR, ADMIN)),
    Right("runs.ask_again_run", _("ask a question of a run again"), (OPERATOR, ADMIN)),
    Right("runs.order_operation", _("act on many runs at once"), (OPERATOR, ADMIN)),
    Right("runs.view_operation", _("see what was done to many runs"), (OPERATOR, AUDITOR, ADMIN)),
    Right("runs.view_payload", _("see payloads without masking"), (OPERATOR, ADMIN)),
    Right("runs.emergency_stop", _("stop or release effects in an emergency"), (OPERATOR, ADMIN)),
    Right("ledger.view_effect", _("see effects"), ALL),
    Right("ledger.export_effect", _("export the ledger"), (AUDITOR, ADMIN)),
    Right("ledger.export_unmasked_effect", _("export hidden values of the ledger"), (ADMIN,)),
    Right("ledger.settle_effect", _("settle an effect by hand"), (OPERATOR, ADMIN)),
    Right("ledger.undo_effect", _("have effects of an ended run undone"), (OPERATOR, ADMIN)),
    Right("ledger.view_toolbox", _("see the tools of all agents"), (OPERATOR, AUDITOR, ADMIN)),
    Right("ledger.view_message", _("see the outbox"), (OPERATOR, AUDITOR, ADMIN)),
    Right("ledger.retry_message", _("queue a message again"), (OPERATOR, ADMIN)),
    Right("approvals.view_request", _("see requests for approval"), ALL),
    Right("approvals.decide_request", _("decide requests for approval"), (APPROVER, ADMIN)),
    Right(
        "approvals.answer_request", _("answer a plain question with any value"), (OPERATOR, ADMIN)
    ),
    Right("approvals.change_policy", _("change the policies of approvals"), (ADMIN,)),
    Right("approvals.report_mishap", _("say that something approved went wrong"), ALL),
    Right("approvals.view_statistics", _("see the statistics of approvers"), (AUDITOR, ADMIN)),
    Right("approvals.delegate_request", _("delegate decisions for somebody absent"), (ADMIN,)),
    Right("audit.view_entry", _("see the audit log"), (AUDITOR, ADMIN)),
    Right("audit.export_entry", _("export the audit log"), (AUDITOR, ADMIN)),
    Right("accounts.share_savedview", _("share saved views with everybody"), (ADMIN,)),
    Right("accounts.change_user", _("be told when too few people may decide"), (ADMIN,)),
)
_BY_NAME = {right.name: right for right in RIGHTS}


def right(name: str) -> Right:
    """The right called "app.codename". KeyError if the table does not have it."""
    return _BY_NAME[name]


def rights_of(group: str) -> Iterator[str]:
    """The names of the permissions that a group has."""
    return (right.name for right in RIGHTS if group in right.groups)


def ensure(using: str = "default") -> None:
    """Make the groups and give each its permissions. Permissions that do not exist are skipped."""
    wanted = Q()
    for name in _BY_NAME:
        app, codename = name.split(".")
        wanted |= Q(content_type__app_label=app, codename=codename)
    found = {
        f"{app}.{codename}": pk
        for pk, app, codename in Permission.objects.using(using)
        .filter(wanted)
        .values_list("pk", "content_type__app_label", "codename")
    }
    with transaction.atomic(using=using):
        for name in ALL:
            group, _made = Group.objects.using(using).get_or_create(name=name)
            group.permissions.set([found[right] for right in rights_of(name) if right in found])


def granters() -> list[str]:
    """The labels of the people to ask for permissions: active members of the admin group."""
    people = User.objects.filter(groups__name=ADMIN, is_active=True).order_by("email")
    return [person.label for person in people if person.may_sign_in]

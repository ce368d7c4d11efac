"""What belongs to another run changes no stamp of one, and what belongs to none, all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group

from accounts.models import User
from approvals.models import (
    Delegation,
    PolicyVersion,
    Vote,
)
from ledger.models import (
    Stop,
)
from signalbox import stamps
from tests.support import changes
from tests.support import standing as make
from tests.support.people import person
from tests.support.polling import flush

NEW_PEOPLE = (
    *(changes.operation, changes.intervention, changes.claim),
    *(changes.vote, changes.mishap, changes.withdrawal),
)
"""These write people, too, who belong to no run."""


@pytest.mark.django_db(transaction=True)
def test_nothing_that_belongs_to_another_run_changes_it() -> None:
    run, other, ben = changes.busy(), changes.busy(), person("Ben")
    flush()
    before, lists = changes.stamp(run), stamps.of("/runs/")
    for change in changes.CHANGES:
        if change not in NEW_PEOPLE:
            change(other)
    Vote.objects.create(request=changes.request(other), user=ben, verdict="approved", missing=1)
    flush()
    assert stamps.of("/runs/") != lists
    assert changes.stamp(run) == before


def joins(ben: User) -> None:
    ben.groups.add(Group.objects.get_or_create(name="finance")[0])


def policy(ben: User) -> None:
    PolicyVersion.objects.create(number=7, policies=[], by=ben, reason="So", at=make.ago(days=1))


def stop(ben: User) -> None:
    Stop.objects.create(scope="everything", reason="So", set_by="Ben")


def delegation(ben: User) -> None:
    times = {"starts_at": make.ago(days=1), "ends_at": make.soon(days=1)}
    made = {"absent": ben, "stand_in": person("Gus"), "made_by": ben, "agents": ["*"]}
    Delegation.objects.create(reason="Away", **made, **times)


def retired(ben: User) -> None:
    User.objects.filter(pk=ben.pk).update(is_active=False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", [joins, policy, stop, delegation, retired])
def test_what_belongs_to_no_run_changes_every_stamp(change: Callable[[User], None]) -> None:
    run, ben = changes.busy(), person("Ben")
    flush()
    paths = (f"/runs/{run.pk}/", *stamps.ALL_RUNS, *stamps.ASKED, "/ledger/")
    before = [stamps.of(path) for path in paths]
    change(ben)
    flush()
    assert not set(before) & {stamps.of(path) for path in paths}

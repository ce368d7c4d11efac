"""Who has a permission is who Django says has it."""

from __future__ import annotations

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission

from accounts.backends import PeopleBackend
from tests.support.people import person

PERMISSION = "approvals.decide_request"


@pytest.mark.django_db
@pytest.mark.parametrize("superusers", [True, False])
def test_the_same_people_as_django_finds(superusers) -> None:
    person("Ben", "finance")  # by a group of theirs
    person("Dan", "finance", is_active=False)
    person("Sue", is_superuser=True)
    own = person("Own", "nobody in particular")
    app, codename = PERMISSION.split(".")
    own.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    person("Eve", "nobody in particular")
    found = PeopleBackend().with_perm(PERMISSION, include_superusers=superusers)
    usual = ModelBackend().with_perm(PERMISSION, include_superusers=superusers)
    assert len(found) >= 2
    assert sorted(user.email for user in found) == sorted(user.email for user in usual)
    assert "own@example.com" in {user.email for user in found}

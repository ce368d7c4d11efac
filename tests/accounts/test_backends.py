"""Who has a permission is who Django says has it, and people may what Django says they may."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission
from django.utils.functional import SimpleLazyObject

from accounts import rights
from accounts.backends import PeopleBackend
from accounts.models import User
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


@pytest.mark.django_db
def test_everybody_may_what_django_says_and_that_takes_one_query(
    django_assert_num_queries,
) -> None:
    own = person("Own", "nobody in particular")
    own.user_permissions.add(Permission.objects.get(codename="decide_request"))
    people = [
        own,
        person("Ada"),
        person("Ben", "finance"),
        person("Sue", is_superuser=True),
        person("Dan", "finance", is_active=False),
        person("Dee"),
    ]
    for each in people:
        usual = ModelBackend().get_all_permissions(User.objects.get(pk=each.pk))
        reader = User.objects.get(pk=each.pk)
        with django_assert_num_queries(1 if each.is_active else 0):
            assert PeopleBackend().get_all_permissions(reader) == usual, each
        assert rights.of(reader).groups == set(each.groups.values_list("name", flat=True)), each
    assert "approvals.decide_request" in own.get_all_permissions()


@pytest.mark.django_db
def test_what_somebody_may_is_asked_once_for_the_person_of_a_request(
    django_assert_num_queries,
) -> None:
    ben = User.objects.get(pk=person("Ben", "finance").pk)
    of_request: Any = SimpleLazyObject(lambda: ben)
    with django_assert_num_queries(1):
        assert of_request.has_perm(PERMISSION)
        assert ben.has_perm(PERMISSION)
        assert "finance" in rights.of(of_request).groups

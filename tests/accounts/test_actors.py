"""Who acts, and that what they may do is asked of the database each time."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from allauth.account.internal.flows.login import record_authentication
from django.contrib.auth.models import AnonymousUser, Group
from django.contrib.sessions.backends.db import SessionStore

from accounts import actors, errors
from accounts.actors import Actor
from accounts.models import User
from tests.support.people import person

pytestmark = pytest.mark.django_db
FIVE_MINUTES = timedelta(minutes=5)


@pytest.fixture
def ada() -> User:
    return person("Ada")


def page(user: User, **about) -> Actor:
    return Actor.person(user, entry="page", **about)


def test_somebody_with_the_permission_passes_and_comes_from_the_database(ada) -> None:
    assert actors.require(page(ada), "runs.start_run") == ada


def test_somebody_without_it_is_told_which_and_who_has_it(ada) -> None:
    with pytest.raises(errors.NotPermitted) as caught:
        actors.require(page(ada), "audit.view_entry")
    refusal = caught.value
    assert refusal.http_status == 403
    assert refusal.permission == "audit.view_entry"
    assert refusal.groups == ("auditor", "admin")
    assert str(refusal).startswith("Ada may not see the audit log.")


def test_a_permission_taken_away_counts_at_once_although_the_session_knew_it(ada) -> None:
    assert ada.has_perm("runs.start_run")  # fills the cache of this object
    Group.objects.get(name="operator").user_set.remove(ada)
    assert ada.has_perm("runs.start_run"), "the cache that must not be trusted is gone"
    with pytest.raises(errors.NotPermitted):
        actors.require(page(ada), "runs.start_run")


def test_a_superuser_who_was_switched_off_is_refused() -> None:
    root = person("Rut", is_superuser=True)
    actor = page(root)
    User.objects.filter(pk=root.pk).update(is_active=False)
    with pytest.raises(errors.NotPermitted):
        actors.require(actor, "runs.start_run")


def test_a_demo_account_is_refused_outside_demo_mode(settings) -> None:
    settings.DEMO = True
    actor = page(person("Ada", is_demo=True))
    assert actors.require(actor, "runs.start_run")
    settings.DEMO = False
    with pytest.raises(errors.NotPermitted):
        actors.require(actor, "runs.start_run")


def test_somebody_deleted_is_refused(ada) -> None:
    actor = page(ada)
    ada.delete()
    with pytest.raises(errors.NotPermitted):
        actors.require(actor, "runs.start_run")


def test_the_system_has_no_permission_of_its_own() -> None:
    with pytest.raises(errors.NotPermitted, match="sweeper may not cancel a run"):
        actors.require(Actor.system("sweeper"), "runs.cancel_run")


def test_a_system_actor_passes_with_what_the_list_allows_it(monkeypatch) -> None:
    monkeypatch.setattr(actors, "SYSTEM_MAY", {"janitor": frozenset({"runs.cancel_run"})})
    assert actors.require(Actor.system("janitor"), "runs.cancel_run") is None
    with pytest.raises(errors.NotPermitted):
        actors.require(Actor.system("janitor"), "runs.start_run")


def test_whoever_runs_commands_on_the_server_passes() -> None:
    actor = Actor.command("start")
    assert actors.require(actor, "runs.start_run") is None
    assert (actor.kind, actor.entry, actor.label) == ("system", "command", "command line: start")


def test_a_permission_that_is_not_in_the_table_is_a_mistake_not_a_refusal(ada) -> None:
    with pytest.raises(KeyError):
        actors.require(page(ada), "runs.fly")


@pytest.mark.parametrize(
    ("age", "is_fresh"),
    [
        (timedelta(seconds=1), True),
        (FIVE_MINUTES - timedelta(seconds=2), True),
        (FIVE_MINUTES + timedelta(seconds=2), False),
        (timedelta(seconds=-10), True),  # the clock of the web process is a little ahead
        (timedelta(minutes=-2), False),
    ],
)
def test_an_authentication_is_fresh_for_a_while(ada, age, is_fresh) -> None:
    actor = page(ada, authenticated_at=datetime.now(UTC) - age)
    assert actors.fresh(actor, FIVE_MINUTES) is is_fresh


def test_freshness_needs_a_person_and_a_time(ada) -> None:
    now = datetime.now(UTC)
    assert not actors.fresh(page(ada), FIVE_MINUTES)
    assert not actors.fresh(Actor.command("start"), FIVE_MINUTES)
    actor = page(ada, authenticated_at=now)
    ada.delete()
    assert not actors.fresh(actor, FIVE_MINUTES)


def test_membership_is_read_from_the_database(ada) -> None:
    assert actors.in_group(ada.pk, "operator")
    assert not actors.in_group(ada.pk, "approver")
    assert not actors.in_group(None, "operator")
    User.objects.filter(pk=ada.pk).update(is_active=False)
    assert not actors.in_group(ada.pk, "operator")


@pytest.fixture
def request_by(rf):
    def request_by(user, path="/runs/"):
        request = rf.get(path)
        request.session, request.user = SessionStore(), user
        return request

    return request_by


def test_an_actor_knows_the_latest_authentication_of_the_session(ada, request_by) -> None:
    request = request_by(ada)
    before = time.time()
    record_authentication(request, ada, method="password")
    record_authentication(request, ada, method="mfa", type="totp", reauthenticated=True)
    actor = Actor.of(request)
    assert (actor.kind, actor.user_id, actor.label, actor.entry) == ("user", ada.pk, "Ada", "page")
    assert actor.method == "totp"
    assert actor.authenticated_at is not None
    assert before <= actor.authenticated_at.timestamp() <= time.time()


def test_an_authentication_of_somebody_else_in_this_session_does_not_count(ada, request_by) -> None:
    request = request_by(ada)
    record_authentication(request, person("Ben"), method="password")
    assert Actor.of(request).authenticated_at is None


def test_requests_below_api_are_told_apart(ada, request_by) -> None:
    assert Actor.of(request_by(ada, "/api/runs/")).entry == "api"


def test_nobody_signed_in_is_an_actor_that_may_nothing(request_by) -> None:
    actor = Actor.of(request_by(AnonymousUser()))
    assert actor.user_id is None
    with pytest.raises(errors.NotPermitted):
        actors.require(actor, "runs.view_run")

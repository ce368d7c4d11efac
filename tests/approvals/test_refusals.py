"""Every reason to refuse a verdict, through every way in: refused, told, and nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from accounts import clock
from accounts.actors import Actor
from accounts.errors import AccountsError, PasskeyNeeded, ReauthenticationNeeded
from accounts.models import User
from approvals import decisions, errors, requests
from approvals.models import Decision, Delegation, Request, Vote
from approvals.status import Status
from audit.models import Entry
from runs.models import Run
from tests.approvals.conftest import approve, ask, due_in, now, of, ours, pending, reject
from tests.support.people import person

pytestmark = pytest.mark.django_db


@dataclass
class World:
    """One request, who tries to decide it, and what they send."""

    request: Request
    by: User
    rule: Callable[..., None]
    sent: dict[str, Any] = field(default_factory=dict)
    proof: dict[str, Any] = field(default_factory=dict)

    @property
    def form(self) -> dict[str, Any]:
        given = {"verdict": "approved", "comment": "", "token": uuid4().hex}
        return given | {"seen_digest": self.request.digest} | self.sent


REASONS: dict[str, tuple[type[Exception], str, Callable[[World], object]]] = {}


def reason(error: type[Exception], why: str = "") -> Callable[[Any], Any]:
    def keep(act: Callable[[World], object]) -> Callable[[World], object]:
        REASONS[act.__name__] = (error, why, act)
        return act

    return keep


@reason(errors.NotEligible, "permission")
def the_account_was_closed(world: World) -> None:
    User.objects.filter(pk=world.by.pk).update(is_active=False)


@reason(errors.NotEligible, "permission")
def the_permission_was_taken_away(world: World) -> None:
    world.by.groups.remove(Group.objects.get(name="approver"))


@reason(errors.NotEligible, "group")
def they_left_the_group(world: World) -> None:
    world.by.groups.remove(Group.objects.get(name="finance"))


@reason(errors.NotEligible, "group")
def the_policy_of_now_asks_another_group(world: World) -> None:
    world.rule(group="legal")


@reason(errors.NotEligible, "group")
def only_named_people_decide_now(world: World) -> None:
    world.rule(group="", people=["somebody@example.com"])


@reason(errors.NotEligible, "requester")
def they_started_the_run(world: World) -> None:
    Run.objects.filter(pk=world.request.run_id).update(started_by=world.by)


@reason(errors.NotEligible, "hands")
def they_forced_the_run_on(world: World) -> None:
    world.request.run.interventions.create(
        kind="force_resume", user=world.by, label="Ben", reason="r"
    )


@reason(errors.NotEligible, "stand_in")
def they_stand_in_for_the_requester(world: World) -> None:
    requester = world.request.run.started_by
    assert requester
    Delegation.objects.create(
        absent=requester,
        stand_in=world.by,
        agents=["*"],
        starts_at=clock.now() - timedelta(hours=1),
        ends_at=clock.now() + timedelta(hours=1),
        reason="r",
        made_by=requester,
    )


@reason(errors.NotEligible, "voted")
def they_voted_before(world: World) -> None:
    world.rule(quorum=2)
    approve(world.request, world.by)


@reason(errors.NotEligible, "one_voice")
def who_stands_in_for_them_voted_before(world: World) -> None:
    world.rule(quorum=2)
    other = person("Gus", "finance", "approver")
    Delegation.objects.create(
        absent=world.by,
        stand_in=other,
        agents=["*"],
        starts_at=clock.now() - timedelta(hours=1),
        ends_at=clock.now() + timedelta(hours=1),
        reason="r",
        made_by=world.by,
    )
    approve(world.request, other)


@reason(ReauthenticationNeeded)
def they_proved_who_they_are_too_long_ago(world: World) -> None:
    world.rule(reauthenticate_within=timedelta(minutes=5))
    world.proof = {"authenticated_at": clock.now() - timedelta(minutes=6)}


@reason(PasskeyNeeded)
def they_proved_it_without_a_passkey(world: World) -> None:
    world.rule(reauthenticate_within=timedelta(minutes=5), passkey=True)
    world.proof = {"authenticated_at": clock.now(), "method": "password"}


@reason(PasskeyNeeded)
def their_passkey_was_too_long_ago(world: World) -> None:
    world.rule(reauthenticate_within=timedelta(minutes=5), passkey=True)
    old = clock.now() - timedelta(minutes=6)
    world.proof = {"authenticated_at": clock.now(), "passkey_at": old}


@reason(errors.AlreadyDecided)
def somebody_else_was_first(world: World) -> None:
    reject(world.request, person("Flo", "finance", "approver"))


@reason(errors.CancelAsked)
def somebody_asked_to_cancel(world: World) -> None:
    Run.objects.filter(pk=world.request.run_id).update(cancel_asked_at=clock.now())


@reason(errors.Withdrawn)
def the_run_has_ended(world: World) -> None:
    Run.objects.filter(pk=world.request.run_id).update(status="failed", ended_at=clock.now())


@reason(errors.Withdrawn)
def the_question_was_taken_back(world: World) -> None:
    requests.withdraw(world.request.run, "the run ended")


@reason(errors.DeadlinePassed)
def the_deadline_has_passed(world: World) -> None:
    due_in(world.request, timedelta(0))


@reason(errors.PayloadChanged)
def the_question_was_replaced(world: World) -> None:
    ask(world.request.run, pending(ours("Refund order 8?")))


@reason(errors.PayloadChanged)
def they_were_shown_something_else(world: World) -> None:
    world.sent = {"seen_digest": "0" * 64}


@reason(errors.BadValue)
def the_verdict_is_none(world: World) -> None:
    world.sent = {"verdict": "expired"}


@reason(errors.BadValue)
def the_comment_is_too_long(world: World) -> None:
    world.sent = {"comment": "x" * (decisions.LONGEST_COMMENT + 1)}


@reason(errors.BadValue)
def the_form_has_no_token(world: World) -> None:
    world.sent = {"token": ""}


@reason(errors.ReasonMissing)
def a_rejection_says_nothing(world: World) -> None:
    world.sent = {"verdict": "rejected", "comment": " "}


@reason(errors.ReasonMissing)
def an_approval_has_to_say_something(world: World) -> None:
    world.rule(comment_required_to_approve=True)


@reason(errors.ReasonMissing)
def a_rejection_names_no_reason_of_the_list(world: World) -> None:
    world.rule(reject_reasons=["Wrong amount"])
    world.sent = {"verdict": "rejected", "comment": "because"}


@reason(errors.BadValue)
def the_reason_is_not_one_of_the_list(world: World) -> None:
    world.rule(reject_reasons=["Wrong amount"])
    world.sent = {"verdict": "rejected", "comment": "because", "reason": "Bad mood"}


@reason(errors.TokenReused)
def the_form_was_used_for_another_request(world: World) -> None:
    other = ask(world.request.run, pending(ours("Another?"), "other"), pending(ours()))
    used = Request.objects.filter(run=world.request.run, interrupt_id="other").get()
    assert other
    token = uuid4().hex
    approve(used, world.by, token=token)
    world.sent = {"token": token}


@pytest.fixture
def world(asked, ben, rule) -> World:
    return World(request=asked(), by=ben, rule=rule)


def state(request: Request) -> tuple[object, ...]:
    return (
        now(request).status,
        Run.objects.get(pk=request.run_id).wakes,
        Vote.objects.filter(request=request).count(),
        Decision.objects.filter(request=request).count(),
    )


def refusals(request: Request) -> int:
    found = Entry.objects.filter(verb="decision.refused", target_id=str(request.pk), allowed=False)
    return found.count()


@pytest.mark.parametrize("entry", ["page", "api", "command"])
@pytest.mark.parametrize("name", list(REASONS))
def test_the_domain_refuses_and_tells_whoever_asks(world, name, entry):
    error, why, act = REASONS[name]
    act(world)
    before = state(world.request)
    actor = Actor.person(world.by, entry=entry, **world.proof)
    with pytest.raises(error) as raised:
        decisions.decide(world.request.pk, actor=actor, **world.form)
    assert getattr(raised.value, "why", "") == why
    assert isinstance(raised.value, errors.ApprovalsError | AccountsError)
    after = state(world.request)
    if name == "the_deadline_has_passed":
        assert after[0] == Status.EXPIRED
    else:
        assert after == before
    (told,) = Entry.objects.filter(verb="decision.refused", target_id=str(world.request.pk))
    assert (told.entry, told.allowed, told.reason) == (entry, False, str(raised.value))
    assert told.data["refusal"] == type(raised.value).__name__


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize("name", list(REASONS))
def test_the_page_refuses_and_tells(client, world, name, htmx):
    _, _, act = REASONS[name]
    client.force_login(world.by)
    act(world)
    before = state(world.request)
    form = world.form
    sent = {
        "verdict": form["verdict"],
        "comment": form["comment"],
        "digest": form["seen_digest"],
        "token": form["token"],
        "reason": form.get("reason", ""),
    }
    headers = {"HX-Request": "true"} if htmx else {}
    page = reverse("approvals:review", args=[world.request.pk])
    response = client.post(page, sent, headers=headers)
    # Refused, or asked to sign in or to prove who they are: nothing is decided on the way there.
    away = getattr(response, "url", "")
    assert response.status_code >= 400 or "/accounts/" in away, (response.status_code, away)
    after = state(world.request)
    assert after[1:] == before[1:] or name == "the_deadline_has_passed"
    assert after[2] == before[2]
    if name in SEEN_BY_THE_FORM:
        assert response.status_code == 422
    elif name != "the_account_was_closed":  # their session has ended
        assert refusals(world.request) == 1


SEEN_BY_THE_FORM = ("the_verdict_is_none", "the_comment_is_too_long", "the_form_has_no_token")
"""What never reaches the decision: the form is incomplete."""


@pytest.mark.parametrize("kind", ["system", "nobody", "gone"])
def test_whoever_is_no_person_is_refused(world, kind):
    actor = {
        "system": Actor.system("sweeper"),
        "nobody": Actor(kind="user", user_id=None, label="?", entry="page"),
        "gone": Actor(kind="user", user_id=10**9, label="?", entry="page"),
    }[kind]
    with pytest.raises(errors.NotEligible):
        decisions.decide(world.request.pk, actor=actor, **world.form)
    assert refusals(world.request) == 1


def test_with_a_passkey_a_moment_ago_it_is_allowed(world):
    world.rule(reauthenticate_within=timedelta(minutes=5), passkey=True)
    at = clock.now()
    actor = of(world.by, authenticated_at=at, passkey_at=at)
    assert decisions.decide(world.request.pk, actor=actor, **world.form).decided


def test_a_named_reason_is_kept_and_told_to_the_agent(world):
    world.rule(reject_reasons=["Wrong amount", "No receipt"])
    outcome = reject(world.request, world.by, reason="No receipt", comment="See mail")
    assert outcome.decided
    assert Vote.objects.get().reason == "No receipt"
    assert Decision.objects.get().answer["comment"] == "No receipt: See mail"


def test_a_reason_of_then_that_is_no_reason_now_is_refused(world):
    world.rule(reject_reasons=["Old", "Both"])
    request = ask(world.request.run, pending(ours("Again?")))
    world.rule(reject_reasons=["Both", "New"])
    for wrong in ("Old", "New"):
        with pytest.raises(errors.BadValue):
            reject(request, world.by, reason=wrong)
    assert reject(request, world.by, reason="Both").decided

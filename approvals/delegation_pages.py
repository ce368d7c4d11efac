"""The page of delegations: who stands in for whom, and making and ending one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import actors, clock, drafts, proof
from accounts import errors as people
from accounts.actors import Actor
from accounts.models import User
from accounts.speech import later
from approvals import delegations as acts
from approvals import errors
from approvals.eligibility import PERMISSION
from approvals.models import Delegation
from approvals.policy_forms import DelegationForm, EndForm
from runs import web
from runs.status import State

SEE = "approvals.view_request"
MOST = 100

STATES = {
    "now": State(
        value="now",
        label=later("Holds now"),
        tone="human",
        icon="swap",
        sentence=later("Somebody stands in."),
    ),
    "later": State(
        value="later",
        label=later("Not yet"),
        tone="neutral",
        icon="clock",
        sentence=later("It begins later."),
    ),
    "over": State(
        value="over",
        label=later("Over"),
        tone="neutral",
        icon="check",
        sentence=later("It is over."),
    ),
    "ended": State(
        value="ended",
        label=later("Ended"),
        tone="neutral",
        icon="slash",
        sentence=later("Somebody ended it before its time."),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One delegation in the list."""

    delegation: Delegation
    state: State
    may_end: bool


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("absent", "stand_in", "starts_at", "ends_at", "agents", "reason")
def delegations(request: HttpRequest) -> HttpResponse:
    """Who stands in for whom, and delegating."""
    user = web.reader(request, SEE)
    may_make = user.has_perm(PERMISSION) or user.has_perm(acts.FOR_OTHERS)
    if request.method != "POST":
        kept = proof.kept(request)
        form = DelegationForm(user=user, initial=kept)
        return _page(request, user, form if may_make else None, confirmed=kept is not None)
    form = DelegationForm(request.POST, user=user)
    if not form.is_valid():
        return _page(request, user, form, code=422)
    sent = form.cleaned_data
    try:
        acts.make(
            sent.get("absent", user),
            sent["stand_in"],
            starts_at=sent["starts_at"],
            ends_at=sent["ends_at"],
            agents=sent["agents"],
            actor=Actor.of(request),
            reason=sent["reason"],
        )
    except people.ReauthenticationNeeded:
        return proof.ask(request, {key: request.POST.get(key, "") for key in form.fields})
    except errors.ApprovalsError as refusal:
        form.add_error(None, refusal.shown)
        return _page(request, user, form, code=refusal.http_status)
    proof.forget(request)
    messages.success(
        request,
        _("{label} stands in from then on. Both are named.").format(label=sent["stand_in"].label),
    )
    return HttpResponseRedirect(reverse("approvals:delegations"))


def _page(
    request: HttpRequest,
    user: User,
    form: DelegationForm | None,
    *,
    confirmed: bool = False,
    code: int = 200,
) -> HttpResponse:
    now = clock.now()
    context = {
        "lines": [_line(each, user, now) for each in acts.seen_by(user)[:MOST]],
        "form": form,
        "confirmed": confirmed,
        "proof": not actors.fresh(Actor.of(request), acts.FRESH),
    }
    return render(request, "approvals/delegations.html", context, status=code)


def _line(delegation: Delegation, user: User, now: datetime) -> Line:
    if delegation.ended_at is not None:
        state = STATES["ended"]
    elif delegation.ends_at <= now:
        state = STATES["over"]
    else:
        state = STATES["later" if delegation.starts_at > now else "now"]
    own = user.pk in (delegation.absent_id, delegation.stand_in_id)
    may = user.has_perm(PERMISSION) if own else user.has_perm(acts.FOR_OTHERS)
    return Line(delegation=delegation, state=state, may_end=may and state.value in ("now", "later"))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("reason")
def end(request: HttpRequest, delegation_id: int) -> HttpResponse:
    """End one before its time."""
    user = web.reader(request, SEE)
    found = acts.seen_by(user).filter(pk=delegation_id).first()
    if found is None:
        raise errors.NoSuchDelegation
    kept = proof.kept(request)
    form = EndForm(request.POST or None, initial=kept)
    code = 200
    if request.method == "POST":
        code = 422
        if form.is_valid():
            try:
                acts.end(delegation_id, actor=Actor.of(request), reason=form.cleaned_data["reason"])
            except errors.ApprovalsError as refusal:
                form.add_error(None, refusal.shown)
                code = refusal.http_status
            else:
                proof.forget(request)
                messages.success(request, _("Ended. From now on only their own say counts."))
                return HttpResponseRedirect(reverse("approvals:delegations"))
    context = {
        "line": _line(found, user, clock.now()),
        "form": form,
        "confirmed": kept is not None,
        "verb": _("End it now"),
        "keep": _("Let it run"),
        "keep_url": reverse("approvals:delegations"),
    }
    return render(request, "approvals/delegation_end.html", context, status=code)

"""Both sides of a change between two attempts, and accepting it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import drafts, proof
from accounts.actors import Actor
from accounts.models import User
from ledger import errors
from ledger.drift import deciding, explaining, states
from ledger.forms import AcceptForm
from ledger.models import Drift, Effect
from ledger.status import STATES
from runs import masking, ports, visible, web
from runs.masking import Cloak
from runs.status import State

SEE = "ledger.view_effect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One drift as a page shows it."""

    drift: Drift
    state: State
    sentence: str
    before: object
    after: object
    """The arguments of both, what is sensitive hidden."""
    first: State
    """Of the effect of the earlier attempt."""
    made: Effect | None
    """What the later attempt has made of it, if it was started."""


def sides(drifts: Iterable[Drift], cloak: Cloak | None) -> list[Side]:
    """For a page: each with its effects. `cloak` is that of their run; None: everything."""
    found = list(drifts)
    made = Effect.objects.in_bulk([drift.key for drift in found])
    return [_side(drift, made.get(drift.key), cloak) for drift in found]


def of_effect(effect: Effect, cloak: Cloak | None) -> list[Side]:
    """The drifts in which this effect is one of the sides."""
    about = Drift.objects.filter(Q(before=effect) | Q(key=effect.pk), withdrawn_at=None)
    return sides(about.select_related("before").order_by("at"), cloak)


def _side(drift: Drift, made: Effect | None, cloak: Cloak | None) -> Side:
    before, after = (
        args
        if cloak is None
        else masking.arguments(args, lambda each: masking.mask(each, cloak).value)
        for args in (drift.before.args, drift.args)
    )
    return Side(
        drift=drift,
        state=states.state_of(drift),
        sentence=explaining.sentence(drift),
        before=before,
        after=after,
        first=STATES[drift.before.status],
        made=made,
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("reason")
def drift(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Compare what two attempts of a step asked for, and accept the later one."""
    user = web.reader(request, SEE)
    found = _find(uid, user)
    kept = proof.kept(request)
    form = AcceptForm(request.POST if request.method == "POST" else None, initial=kept)
    code = 200
    if request.method == "POST":
        code = 422
        if form.is_valid():
            try:
                reason = form.cleaned_data["reason"]
                deciding.accept(uid, actor=Actor.of(request), reason=reason)
            except errors.LedgerError as refusal:
                form.add_error(None, refusal.shown)
                code, found = refusal.http_status, _find(uid, user)
            else:
                proof.forget(request)
                messages.success(request, _("Accepted. The run goes on with what it asks for now."))
                return HttpResponseRedirect(reverse("runs:run", args=[found.run_id]))
    (side,) = sides([found], ports.cloak(found.run_id, user))
    context = {
        "side": side,
        "drift": found,
        "form": form,
        "confirmed": kept is not None,
        "may_accept": user.has_perm(deciding.PERMISSION),
        "verb": _("Accept the new one"),
        "keep": _("Leave the run parked"),
        "keep_url": reverse("runs:run", args=[found.run_id]),
    }
    return render(request, "ledger/drift.html", context, status=code)


def _find(uid: UUID, user: User) -> Drift:
    seen = Drift.objects.filter(visible.within(user, "run"), uid=uid)
    found = seen.select_related("before", "run").first()
    if found is None:
        raise Http404
    return found

"""Pages on which a person acts on the ledger: settling by hand, emergency stops.

GET shows what is known, POST acts. They work without a script and keep what was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import actors, drafts, proof
from accounts import errors as people
from accounts.actors import Actor
from accounts.speech import later
from ledger import errors, queries, shown, stops, suspect
from ledger import settle as settling
from ledger.forms import COMPENSATE, LiftForm, SettleForm, StopForm
from ledger.models import Stop
from ledger.queries import Detail
from ledger.undo import compensating
from runs import ports, registry, visible, web
from runs.errors import RunsError
from runs.status import Park
from runs.status import Status as RunStatus

SEE = "ledger.view_effect"
MOST_HELD = 20
"""Runs that are named before a stop is lifted."""
MOST_LIFTED = 20
TYPED = ("reason", "reference", "evidence")
"""What is kept of the form while somebody proves who they are."""


# --- settling -------------------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps(*TYPED)
def settle(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Say by hand how an effect in doubt ended."""
    user = web.reader(request, settling.PERMISSION)
    detail = queries.effect(uid, user)
    if request.method != "POST":
        kept = proof.kept(request)
        form = SettleForm(effect=detail.effect, initial=kept or {})
        return _settle_page(request, detail, form, confirmed=kept is not None)
    form = SettleForm(request.POST, effect=detail.effect)
    if not form.is_valid():
        return _settle_page(request, detail, form, code=422)
    sent = form.cleaned_data
    try:
        _settle(uid, sent, Actor.of(request))
    except people.ReauthenticationNeeded:
        return proof.ask(request, {name: sent[name] for name in TYPED})
    except (errors.LedgerError, RunsError) as refusal:
        form.add_error(None, refusal.shown)
        return _settle_page(request, queries.effect(uid, user), form, code=refusal.http_status)
    proof.forget(request)
    messages.success(request, DONE[sent["verdict"]])
    return HttpResponseRedirect(reverse("ledger:effect", args=[uid]))


def _settle(uid: UUID, sent: Mapping[str, str], actor: Actor) -> None:
    said = {name: sent[name] for name in TYPED}
    if sent["verdict"] == COMPENSATE:
        compensating.compensate(uid, actor=actor, **said)
    elif sent["verdict"] == "happened":
        settling.settle(uid, "happened", actor=actor, **said)
    else:
        settling.settle(uid, "did_not_happen", actor=actor, **said)


DONE = {
    COMPENSATE: later("Settled: it happened. The run ends, and then the effect is taken back."),
    "happened": later("Settled: it happened. The run goes on with the reference you gave."),
    "did_not_happen": later("Settled: it did not happen. The run may make one more attempt."),
}


def _settle_page(
    request: HttpRequest,
    detail: Detail,
    form: SettleForm,
    *,
    confirmed: bool = False,
    code: int = 200,
) -> HttpResponse:
    context = {
        "detail": detail,
        "effect": detail.effect,
        "state": shown.state_of(detail.effect, detail.state),
        "suspect": suspect.of(detail),
        "looks": [shown.Asked.of(each) for each in detail.looks],
        "preview": shown.preview(
            detail.effect.args, ports.cloak(detail.effect.run_id, web.reader(request))
        ),
        "form": form,
        "confirmed": confirmed,
        "proof": not actors.fresh(Actor.of(request), settling.FRESH),
        "verb": _("Settle"),
        "keep": _("Leave it in doubt"),
        "keep_url": reverse("ledger:effect", args=[detail.effect.uid]),
    }
    return render(request, "ledger/settle.html", context, status=code)


# --- emergency stops ------------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("scope", "name", "reason")
def emergency_stops(request: HttpRequest) -> HttpResponse:
    """What is stopped, and stopping more."""
    user = web.reader(request, SEE)
    form = StopForm(request.POST or None, initial=proof.kept(request))
    code = 200
    if request.method == "POST":
        code = 422
        if form.is_valid():
            sent = form.cleaned_data
            try:
                stops.set(
                    sent["scope"], sent["name"], actor=Actor.of(request), reason=sent["reason"]
                )
            except errors.LedgerError as refusal:
                form.add_error(None, refusal.shown)
                code = refusal.http_status
            else:
                proof.forget(request)
                messages.success(request, _("The stop is on. No call is started under it."))
                return HttpResponseRedirect(reverse("ledger:stops"))
    lifted = Stop.objects.filter(lifted_at__isnull=False).order_by("-lifted_at")[:MOST_LIFTED]
    context = {
        "on": stops.on(),
        "lifted": lifted,
        "form": form,
        "may_stop": user.has_perm(stops.PERMISSION),
        "names": sorted({*queries.tools(), *registry.declarations()}),
    }
    return render(request, "ledger/stops.html", context, status=code)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@drafts.keeps("reason")
def lift(request: HttpRequest, stop_id: int) -> HttpResponse:
    """Switch a stop off."""
    user = web.reader(request, stops.PERMISSION)
    stop = get_object_or_404(Stop, pk=stop_id)
    kept = proof.kept(request)
    form = LiftForm(request.POST or None, initial=kept)
    code = 200
    if request.method == "POST":
        code = 422
        if form.is_valid():
            try:
                stops.lift(stop_id, actor=Actor.of(request), reason=form.cleaned_data["reason"])
            except errors.LedgerError as refusal:
                form.add_error(None, refusal.shown)
                code = refusal.http_status
            else:
                proof.forget(request)
                messages.success(request, _("The stop is lifted. Runs parked for it go on."))
                return HttpResponseRedirect(reverse("ledger:stops"))
    parked = visible.to(user).filter(status=RunStatus.PARKED, park_reason=Park.EMERGENCY_STOP)
    held = list(parked.order_by("created_at", "pk")[: MOST_HELD + 1])
    context = {
        "stop": stop,
        "held": held[:MOST_HELD],
        "more_held": len(held) > MOST_HELD,
        "form": form,
        "confirmed": kept is not None,
        "verb": _("Lift the stop"),
        "keep": _("Keep it on"),
        "keep_url": reverse("ledger:stops"),
    }
    return render(request, "ledger/lift.html", context, status=code)

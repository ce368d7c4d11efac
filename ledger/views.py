"""The ledger: what was done to the outside world, settling what is in doubt, emergency stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache
from django.views.decorators.http import conditional_page, require_http_methods, require_safe

from accounts import actors, proof
from accounts import errors as people
from accounts.actors import Actor
from accounts.models import User
from audit import queries as log
from audit.models import Entry
from audit.verbs import VERBS, Verb
from ledger import errors, queries, status, stops, suspect
from ledger import settle as settling
from ledger.forms import FilterForm, LiftForm, SettleForm, StopForm
from ledger.models import Effect, EffectAttempt, Incident, Look, Stop
from ledger.queries import Detail, Filters, Place
from ledger.status import Status
from runs import masking, registry, web
from runs.status import State

SEE = "ledger.view_effect"
SEE_ALL_ENTRIES = "audit.view_entry"
SIZE = 50
EVERY = 10
"""Seconds between two looks at what may change."""
MOST_NEW = 99
MOST_ENTRIES = 50
MOST_LIFTED = 20
CURSORS = ("after", "before", "as_of")
PREVIEW = 3
"""Arguments that a list shows of an effect."""
LONGEST_PREVIEW = 40
CHIPS = (Status.IN_DOUBT, Status.PENDING, Status.FAILED, Status.SENT, Status.CONFIRMED)


# --- the list -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A count that filters the list, or takes the filter away where it is on."""

    state: State
    count: int
    url: str
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One effect of the list."""

    effect: Effect
    state: State
    preview: str
    """The first arguments, what is sensitive hidden."""


@conditional_page
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Effects, last changed first, with everything that the address asks for."""
    web.reader(request, SEE)
    form = FilterForm(request.GET)
    filters = form.filters() if form.is_valid() else None
    rows, newer, older = _page(request, filters) if filters else ([], "", "")
    as_of = _place(request.GET.get("as_of", "")) or (Place.of(rows[0]) if rows else None)
    context = {
        "form": form,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "rows": [_row(effect) for effect in rows],
        "chips": _chips(request.GET, filters or Filters()),
        "newer": newer,
        "older": older,
        "fresh": _changed_since(filters, as_of) if filters and as_of else 0,
        "most_fresh": MOST_NEW,
        "fresh_url": _here(request.GET),
        "live_url": request.path + _here(request.GET, as_of=_written(as_of)),
        "every": EVERY,
        "stops": stops.on(),
    }
    return web.answer(request, "ledger/list.html", "counts", context)


def _page(request: HttpRequest, filters: Filters) -> tuple[list[Effect], str, str]:
    """(effects, address of the newer page, of the older page); empty where there is none."""
    after, before = (_place(request.GET.get(name, "")) for name in ("after", "before"))
    found = list(queries.effects(filters, after=after, before=before, limit=SIZE + 1))
    more = len(found) > SIZE
    if before is not None:
        shown, newer, older = found[-SIZE:], more, True
    else:
        shown, newer, older = found[:SIZE], after is not None, more
    if not shown:
        return [], "", ""
    first, last = Place.of(shown[0]), Place.of(shown[-1])
    return (
        shown,
        _here(request.GET, before=_written(first)) if newer else "",
        _here(request.GET, after=_written(last)) if older else "",
    )


def _chips(query: QueryDict, filters: Filters) -> list[Chip]:
    counts = queries.counts(replace(filters, status="", settled_by_hand=False))
    return [
        Chip(
            state=status.STATES[each],
            count=counts[each],
            url=_here(query, status=None if query.get("status") == each else each),
            on=query.get("status") == each,
        )
        for each in CHIPS
        if counts[each] or query.get("status") == each
    ]


def _changed_since(filters: Filters, place: Place) -> int:
    return len(queries.effects(filters, before=place, limit=MOST_NEW))


def _row(effect: Effect) -> Row:
    calling = effect.status == Status.PENDING and getattr(effect, "calling", False)
    return Row(
        effect=effect,
        state=status.CALLING if calling else state_of(effect),
        preview=_preview(effect.args),
    )


def state_of(effect: Effect) -> State:
    """The stored state; with a hand where a person said so."""
    state = status.STATES[effect.status]
    if not effect.settled_by or effect.status not in status.DONE:
        return state
    return replace(
        state, icon="hand", sentence=f"Settled by {effect.settled_by}: {effect.settle_reason}"
    )


def _preview(args: object) -> str:
    shown = masking.mask(args).value
    if not isinstance(shown, Mapping):
        return ""
    plain = [
        f"{name} {_cut(str(value))}"
        for name, value in shown.items()
        if isinstance(value, str | int | float)
    ]
    return " · ".join(plain[:PREVIEW])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_PREVIEW else f"{line[: LONGEST_PREVIEW - 1]}…"


def _here(query: QueryDict, **changes: str | None) -> str:
    """The address of the same list with these parameters; None takes one away."""
    made = query.copy()
    for name in (*CURSORS, *changes):
        made.pop(name, None)
    for name, value in changes.items():
        if value is not None:
            made[name] = value
    return f"?{made.urlencode()}"


def _written(place: Place | None) -> str | None:
    return f"{place.updated_at.isoformat()}~{place.uid}" if place else None


def _place(text: str) -> Place | None:
    moment, _, uid = text.partition("~")
    try:
        at: datetime | None = parse_datetime(moment)
        return Place(updated_at=at, uid=UUID(uid)) if at and at.tzinfo else None
    except ValueError:
        return None


# --- one effect -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One row of the table of calls."""

    call: EffectAttempt
    state: State

    @property
    def took(self) -> float | None:
        ended = self.call.ended_at
        return (ended - self.call.started_at).total_seconds() if ended else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One row of the table of look-ups."""

    look: Look
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One entry of the audit log about the effect."""

    entry: Entry
    verb: Verb


@conditional_page
@require_safe
def effect(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One effect: what was sent, what came back, what it rests on, and who did what to it."""
    user = web.reader(request, SEE)
    detail = queries.effect(uid)
    revealed = web.reveals(request, detail.effect.run_id, f"effect {uid}")
    args, result, responses = (
        _shown(value, revealed=revealed)
        for value in (
            detail.effect.args,
            detail.effect.result,
            [call.response for call in detail.calls if call.response is not None],
        )
    )
    context = {
        "detail": detail,
        "effect": detail.effect,
        "state": detail.state if detail.calling else state_of(detail.effect),
        "args": args.value,
        "result": result.value,
        "responses": responses.value,
        "hidden": args.hidden + result.hidden + responses.hidden,
        "revealed": revealed,
        "may_reveal": user.has_perm(web.REVEAL),
        "may_settle": user.has_perm(settling.PERMISSION),
        "calls": [Call(call=each, state=status.OUTCOMES[each.outcome]) for each in detail.calls],
        "looks": [Asked(look=each, state=status.ANSWERS[each.answer]) for each in detail.looks],
        "incidents": [_incident(each, revealed=revealed) for each in detail.incidents],
        "entries": _entries(user, uid),
        "live_url": request.path,
        "every": EVERY,
        "moving": detail.effect.status in (Status.PENDING, Status.IN_DOUBT),
    }
    return web.answer(request, "ledger/effect.html", "standing", context)


def _shown(value: object, *, revealed: bool) -> masking.Masked:
    return masking.Masked(value=value, hidden=0) if revealed else masking.mask(value)


def _incident(incident: Incident, *, revealed: bool) -> tuple[Incident, object]:
    return incident, _shown(incident.facts, revealed=revealed).value


def _entries(user: User, uid: UUID) -> list[Logged]:
    """What the audit log says about the effect; without the permission only the reader's own."""
    own = "" if user.has_perm(SEE_ALL_ENTRIES) else str(user.pk)
    about = log.Filters(target_kind="effect", target_id=str(uid), actor_id=own)
    found = log.entries(about, limit=MOST_ENTRIES)
    return [Logged(entry=each, verb=VERBS[each.verb]) for each in found if each.verb in VERBS]


# --- settling -------------------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def settle(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Say by hand how an effect in doubt ended."""
    web.reader(request, settling.PERMISSION)
    detail = queries.effect(uid)
    if request.method != "POST":
        kept = proof.kept(request)
        form = SettleForm(effect=detail.effect, initial=kept or {})
        return _settle_page(request, detail, form, confirmed=kept is not None)
    form = SettleForm(request.POST, effect=detail.effect)
    if not form.is_valid():
        return _settle_page(request, detail, form, code=422)
    sent = form.cleaned_data
    try:
        settling.settle(
            uid,
            sent["verdict"],
            actor=Actor.of(request),
            reason=sent["reason"],
            reference=sent["reference"],
        )
    except people.ReauthenticationNeeded:
        return proof.ask(request, {name: sent[name] for name in ("reason", "reference")})
    except errors.LedgerError as refusal:
        form.add_error(None, str(refusal))
        return _settle_page(request, queries.effect(uid), form, code=refusal.http_status)
    proof.forget(request)
    messages.success(request, DONE[sent["verdict"]])
    return HttpResponseRedirect(reverse("ledger:effect", args=[uid]))


DONE = {
    "happened": "Settled: it happened. The run goes on with the reference you gave.",
    "did_not_happen": "Settled: it did not happen. The run may make one more attempt.",
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
        "state": state_of(detail.effect),
        "suspect": suspect.of(detail),
        "looks": [Asked(look=each, state=status.ANSWERS[each.answer]) for each in detail.looks],
        "preview": _preview(detail.effect.args),
        "form": form,
        "confirmed": confirmed,
        "proof": not actors.fresh(Actor.of(request), settling.FRESH),
        "verb": "Settle",
        "keep": "Leave it in doubt",
        "keep_url": reverse("ledger:effect", args=[detail.effect.uid]),
    }
    return render(request, "ledger/settle.html", context, status=code)


# --- emergency stops ------------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def emergency_stops(request: HttpRequest) -> HttpResponse:
    """What is stopped, and stopping more."""
    user = web.reader(request, SEE)
    form = StopForm(request.POST) if request.method == "POST" else StopForm()
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
                form.add_error(None, str(refusal))
                code = refusal.http_status
            else:
                messages.success(request, "The stop is on. No call is started under it.")
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
def lift(request: HttpRequest, stop_id: int) -> HttpResponse:
    """Switch a stop off."""
    web.reader(request, stops.PERMISSION)
    stop = get_object_or_404(Stop, pk=stop_id)
    form = LiftForm(request.POST or None)
    code = 200
    if request.method == "POST":
        code = 422
        if form.is_valid():
            try:
                stops.lift(stop_id, actor=Actor.of(request), reason=form.cleaned_data["reason"])
            except errors.LedgerError as refusal:
                form.add_error(None, str(refusal))
                code = refusal.http_status
            else:
                messages.success(request, "The stop is lifted. Runs parked for it go on.")
                return HttpResponseRedirect(reverse("ledger:stops"))
    context = {
        "stop": stop,
        "form": form,
        "verb": "Lift the stop",
        "keep": "Keep it on",
        "keep_url": reverse("ledger:stops"),
    }
    return render(request, "ledger/lift.html", context, status=code)

"""The ledger: what was done to the outside world, as a list and one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import conditional_page, require_safe

from accounts.models import User
from audit import queries as log
from audit.models import Entry
from audit.verbs import VERBS, Verb
from ledger import queries, shown, status, stops
from ledger import settle as settling
from ledger.forms import FilterForm
from ledger.models import Effect, Incident
from ledger.queries import Filters, Place
from ledger.status import Status
from runs import masking, web
from runs.status import State

SEE = "ledger.view_effect"
SEE_ALL_ENTRIES = "audit.view_entry"
SIZE = 50
EVERY = 10
"""Seconds between two looks at what may change."""
MOST_NEW = 99
MOST_ENTRIES = 50
CURSORS = ("after", "before", "as_of")
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
    user = web.reader(request, SEE)
    form = FilterForm(request.GET)
    filters = form.filters() if form.is_valid() else None
    if filters and user.has_perm(web.REVEAL):
        filters = replace(filters, in_arguments=True)
    rows, newer, older = _page(request, user, filters) if filters else ([], "", "")
    as_of = _place(request.GET.get("as_of", "")) or (Place.of(rows[0]) if rows else None)
    context = {
        "form": form,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "rows": [_row(effect) for effect in rows],
        "chips": _chips(request.GET, user, filters or Filters()),
        "newer": newer,
        "older": older,
        "fresh": _changed_since(filters, user, as_of) if filters and as_of else 0,
        "most_fresh": MOST_NEW,
        "fresh_url": _here(request.GET),
        "live_url": request.path + _here(request.GET, as_of=_written(as_of)),
        "every": EVERY,
        "stops": stops.on(),
    }
    return web.answer(request, "ledger/list.html", "counts", context)


def _page(request: HttpRequest, user: User, filters: Filters) -> tuple[list[Effect], str, str]:
    """(effects, address of the newer page, of the older page); empty where there is none."""
    after, before = (_place(request.GET.get(name, "")) for name in ("after", "before"))
    found = list(queries.effects(filters, user, after=after, before=before, limit=SIZE + 1))
    more = len(found) > SIZE
    if before is not None:
        rows, newer, older = found[-SIZE:], more, True
    else:
        rows, newer, older = found[:SIZE], after is not None, more
    if not rows:
        return [], "", ""
    first, last = Place.of(rows[0]), Place.of(rows[-1])
    return (
        rows,
        _here(request.GET, before=_written(first)) if newer else "",
        _here(request.GET, after=_written(last)) if older else "",
    )


def _chips(query: QueryDict, user: User, filters: Filters) -> list[Chip]:
    counts = queries.counts(user, replace(filters, status="", settled_by_hand=False))
    return [
        Chip(
            state=status.STATES[each]
            if counts[each]
            else replace(status.STATES[each], tone="neutral"),
            count=counts[each],
            url=_here(query, status=None if query.get("status") == each else each),
            on=query.get("status") == each,
        )
        for each in CHIPS
        if counts[each] or query.get("status") == each
    ]


def _changed_since(filters: Filters, user: User, place: Place) -> int:
    return len(queries.effects(filters, user, before=place, limit=MOST_NEW))


def _row(effect: Effect) -> Row:
    state = status.shown(
        effect.status,
        calling=getattr(effect, "calling", False),
        unheard=getattr(effect, "unheard", False),
        ended=effect.left_alone,
    )
    return Row(
        effect=effect,
        state=shown.state_of(effect, state),
        preview=shown.preview(effect.args),
    )


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
class Logged:
    """One entry of the audit log about the effect."""

    entry: Entry
    verb: Verb


@conditional_page
@require_safe
def effect(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One effect: what was sent, what came back, what it rests on, and who did what to it."""
    user = web.reader(request, SEE)
    detail = queries.effect(uid, user)
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
        "state": (detail.state if detail.calling else shown.state_of(detail.effect, detail.state)),
        "args": args.value,
        "result": result.value,
        "responses": responses.value,
        "hidden": args.hidden + result.hidden + responses.hidden,
        "revealed": revealed,
        "may_reveal": user.has_perm(web.REVEAL),
        "may_settle": user.has_perm(settling.PERMISSION),
        "calls": [shown.Call.of(each) for each in detail.calls],
        "looks": [shown.Asked.of(each) for each in detail.looks],
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

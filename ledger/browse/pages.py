"""The ledger as a list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import conditional_page, require_safe

from accounts.models import User
from accounts.saved import views as saved
from ledger import shown, status, stops
from ledger.browse import forms, listing, search, sides
from ledger.browse.forms import FilterForm
from ledger.browse.listing import Count, Listing, Overlays, Place
from ledger.errors import SearchTooSlow
from ledger.models import Effect
from ledger.status import Status
from runs import masking, ports, web
from runs.patience import patience
from runs.status import State

SEE = "ledger.view_effect"
EXPORT = "ledger.export_effect"
EVERY = 10
"""Seconds between two looks at what may change."""
MOST_NEW = 99
CURSORS = ("after", "before", "as_of")
CHIPS = (Status.IN_DOUBT, Status.PENDING, Status.FAILED, Status.SENT, Status.CONFIRMED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A count that filters the list, or takes the filter away where it is on."""

    state: State
    count: Count
    url: str
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter that is on, and the address without it."""

    label: str
    value: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One effect of the list."""

    effect: Effect
    state: State
    preview: str
    """The first arguments, what is sensitive hidden."""
    incident: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the database says of the filters."""

    rows: list[Effect] = field(default_factory=list)
    newer: str = ""
    older: str = ""
    """Addresses of the pages beside it; empty where there is none."""
    counts: dict[str, Count] = field(default_factory=dict)
    fresh: int = 0
    """How many have come since the page was opened."""
    as_of: Place | None = None
    too_slow: bool = False


@conditional_page
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Effects, newest first, with everything that the address asks for."""
    user = web.reader(request, SEE)
    form = FilterForm(request.GET, user=user)
    page = _asked(request.GET, form, user) if form.is_valid() else Page()
    context = {
        "form": form,
        "filtered": form.used,
        "filters": filters_on(form, request.GET),
        "rows": _rows(page.rows, user),
        "chips": _chips(request.GET, page.counts),
        "total": listing.total(page.counts),
        "page": page,
        "onward": bool(request.GET.get("after") or request.GET.get("before")),
        "most_fresh": MOST_NEW,
        "fresh_url": here(request.GET),
        "live_url": request.path + here(request.GET, as_of=_written(page.as_of)),
        "every": EVERY,
        "stops": stops.widest_first(),
        "may_export": user.has_perm(EXPORT),
        "export_url": reverse("ledger:export") + here(request.GET),
        "saved": saved.of(user, request.path, forms.reads(user)),
        "here": request.path,
        "query": here(request.GET).removeprefix("?"),
        "people": User.objects.order_by("email")[: forms.MOST_PEOPLE],
        "most_parts": sides.NEWEST if form.reveals and request.GET.get("q") else 0,
    }
    return web.answer(request, "ledger/list.html", "counts", context)


def _asked(query: QueryDict, form: FilterForm, user: User) -> Page:
    after, before, as_of = (_place(query.get(name, "")) for name in CURSORS)
    try:
        with patience(SearchTooSlow):
            filters = form.filters()
            everything = Listing.of(replace(filters, status=""), user)
            found = everything.in_state(filters.status)
            page = _page(query, found, after, before)
            as_of = as_of or (Place.of(page.rows[0]) if page.rows else None)
            return replace(
                page,
                counts=everything.counts(),
                fresh=found.newer_than(as_of, most=MOST_NEW) if as_of else 0,
                as_of=as_of,
            )
    except SearchTooSlow:
        return Page(too_slow=True)


def _page(query: QueryDict, found: Listing, after: Place | None, before: Place | None) -> Page:
    if after or before:
        effects = found.page(after=after, before=before, limit=search.PAGE + 1)
    else:
        effects = found.newest()
    more = len(effects) > search.PAGE
    if before is not None:
        rows, newer, older = effects[-search.PAGE :], more, True
    else:
        rows, newer, older = effects[: search.PAGE], after is not None, more
    if not rows:
        return Page()
    first, last = Place.of(rows[0]), Place.of(rows[-1])
    return Page(
        rows=rows,
        newer=here(query, before=_written(first)) if newer else "",
        older=here(query, after=_written(last)) if older else "",
    )


def _chips(query: QueryDict, counts: dict[str, Count]) -> list[Chip]:
    return [
        Chip(
            state=status.STATES[each]
            if counts[each]
            else replace(status.STATES[each], tone="neutral"),
            count=counts[each],
            url=here(query, status=None if query.get("status") == each else each),
            on=query.get("status") == each,
        )
        for each in CHIPS
        if each in counts and (counts[each] or query.get("status") == each)
    ]


def filters_on(form: FilterForm, query: QueryDict) -> list[Filter]:
    """Of a form that was looked at; none of one that is wrong."""
    return [
        Filter(label=each.label, value=each.value, url=here(each.without))
        for each in forms.chips(form, query)
    ]


def _rows(effects: list[Effect], user: User) -> list[Row]:
    overlays = Overlays.of(effects)
    cloaks = ports.masks().of_runs({effect.run_id for effect in effects}, user)
    return [_row(effect, overlays, cloaks.get(effect.run_id, masking.BARE)) for effect in effects]


def _row(effect: Effect, overlays: Overlays, cloak: masking.Cloak) -> Row:
    state = status.shown(
        effect.status,
        calling=effect.pk in overlays.calling,
        unheard=effect.pk in overlays.unheard,
        ended=effect.left_alone,
    )
    return Row(
        effect=effect,
        state=shown.state_of(effect, state),
        preview=shown.preview(effect.args, cloak),
        incident=effect.pk in overlays.incident,
    )


def here(query: QueryDict, **changes: str | None) -> str:
    """The address of the same list with these parameters; None takes one away."""
    made = query.copy()
    for name in (*CURSORS, *changes):
        made.pop(name, None)
    for name in [name for name in made if not made[name]]:
        made.pop(name)  # what a form sent empty
    for name, value in changes.items():
        if value is not None:
            made[name] = value
    return f"?{made.urlencode()}"


def _written(place: Place | None) -> str | None:
    return f"{place.created_at.isoformat()}~{place.uid}" if place else None


def _place(text: str) -> Place | None:
    moment, _, uid = text.partition("~")
    at = web.moment(moment)
    try:
        return Place(created_at=at, uid=UUID(uid)) if at else None
    except ValueError:
        return None

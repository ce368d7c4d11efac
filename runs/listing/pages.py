"""The list of runs as a page, and as what a poll gets."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import conditional_page, require_safe

from accounts.models import User
from accounts.saved import views as saved
from runs import errors, queries, visible, web
from runs.listing import addresses, counts, finding, forms
from runs.listing.counts import Chip
from runs.listing.finding import Place, Scope
from runs.listing.forms import FilterForm
from runs.models import Run
from runs.patience import patience
from runs.queries import Row

EVERY = 10
"""Seconds between two looks at a list."""
ALIKE = {
    *("status", "attention", "agent", "version", "error", "since", "size", "col"),
    *("shown", "after", "before"),
}
"""What addresses may ask for so that all who see the same are told the same. Others may ask for the
reader's own runs, or search for what is hidden from some."""
MOST_NEW = 99
"""Runs that wait behind the link are counted up to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One run of the list."""

    row: Row
    fits: bool = True
    """It meets the filters now; shown all the same where it did when the page was opened."""

    @property
    def run(self) -> Run:
        return self.row.run


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the database says of the filters."""

    rows: list[Listed] = field(default_factory=list)
    newer: str = ""
    older: str = ""
    """Addresses of the pages beside it; empty where there is none."""
    chips: list[Chip] = field(default_factory=list)
    fresh: int = 0
    """How many belong onto this page that are not shown."""
    too_slow: bool = False


@gzip_page
@conditional_page
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Runs, newest first, with everything that the address asks for."""
    user = web.reader(request)
    form = FilterForm(request.GET, user=user)
    page = _asked(request.GET, form, user) if form.is_valid() else Page()
    shown = addresses.pack(each.run.pk for each in page.rows)
    kept = {name: request.GET[name] for name in ("after", "before") if request.GET.get(name)}
    context = {
        "form": form,
        "filters": list(forms.on(form, request.GET)),
        "filtered": form.used,
        "page": page,
        "rows": page.rows,
        "chips": page.chips,
        "onward": bool(kept),
        "columns": form.cleaned_data.get("col", []),
        "fresh": page.fresh,
        "most_fresh": MOST_NEW,
        "fresh_url": addresses.here(request.GET),
        "live_url": request.path + addresses.here(request.GET, shown=shown, **kept),
        "every": EVERY,
        "week_url": addresses.here(request.GET, since="7d", started_from=None, started_until=None),
        "may_start": user.has_perm("runs.start_run"),
        "choosable": user.has_perm("runs.order_operation")
        and any(not each.run.ended for each in page.rows),
        "saved": saved.of(user, request.path, forms.reads(user)),
        "here": request.path,
        "query": addresses.here(request.GET).removeprefix("?"),
    }
    if request.GET.keys() <= ALIKE:
        request.META[visible.SIGHT] = visible.sight(user)
    return web.answer(request, "runs/list.html", "listing", context)


def _asked(query: QueryDict, form: FilterForm, user: User) -> Page:
    try:
        with patience(errors.SearchTooSlow) if _may_take_long(form, user) else nullcontext():
            filters = form.filters()
            every = finding.of(filters, user)
            scope = every.only(finding.in_state(filters))
            asked = _Asked(
                query=query,
                user=user,
                scope=scope,
                size=form.cleaned_data["size"] or queries.PAGE,
            )
            page = asked.again() if "shown" in query else asked.page()
            return Page(
                rows=page.rows,
                newer=page.newer,
                older=page.older,
                fresh=page.fresh,
                chips=counts.chips(every, query),
            )
    except errors.SearchTooSlow:
        return Page(too_slow=True)


def _may_take_long(form: FilterForm, user: User) -> bool:
    """The newest of all runs are where their index begins; others may have to be looked for."""
    return bool(form.used) or not user.has_perm(visible.EVERY)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One page of one list, for one reader."""

    query: QueryDict
    user: User
    scope: Scope
    size: int

    def page(self) -> Page:
        """As it is opened."""
        after, before = (Place.read(self.query.get(name, "")) for name in ("after", "before"))
        if after or before or self.size != queries.PAGE:
            found = self.scope.page(after=after, before=before, limit=self.size + 1)
        else:
            found = self.scope.newest()
        more = len(found) > self.size
        if before is not None:
            runs, newer, older = found[-self.size :], more, True
        else:
            runs, newer, older = found[: self.size], after is not None, more
        if not runs:
            return Page()
        first, last = str(Place.of(runs[0])), str(Place.of(runs[-1]))
        return Page(
            rows=[Listed(row=row) for row in queries.rows(runs, self.user)],
            newer=addresses.here(self.query, before=first) if newer else "",
            older=addresses.here(self.query, after=last) if older else "",
        )

    def again(self) -> Page:
        """The rows that are shown, as they are now, and how many others there are."""
        ids = addresses.unpack(str(self.query["shown"]), forms.SIZES[-1])
        found = visible.to(self.user).select_related("lease", "started_by").filter(pk__in=ids)
        runs = list(found.order_by("-created_at", "-id"))
        fitting = self.scope.fitting(ids)
        return Page(
            rows=[
                Listed(row=row, fits=row.run.pk in fitting) for row in queries.rows(runs, self.user)
            ],
            fresh=self._others(runs),
        )

    def _others(self, runs: list[Run]) -> int:
        """Of the first page; what comes newly onto a later one has been on those before."""
        if self.query.get("after") or self.query.get("before"):
            return 0
        full = len(runs) >= self.size
        last = Place.of(runs[-1]) if full else None
        return self.scope.others(runs, down_to=last, most=MOST_NEW)

"""Which runs an operation would be about: those that were chosen, or all that meet the filters.

Everything stands in the address: `kind`, and either `pick` once for each run or `all` with filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q
from django.http import QueryDict
from django.utils.translation import gettext as _

from accounts import clock
from accounts.models import User
from runs import errors, queries, standing, visible
from runs.listing import addresses, finding, forms
from runs.listing.forms import FilterForm, On
from runs.models import Run
from runs.operations import footing
from runs.operations.kinds import KINDS, Kind
from runs.operations.ordering import MOST, MOST_CHOSEN
from runs.patience import patience
from runs.queries import Row
from runs.status import PARKS, Status

OWN = ("kind", "pick", "all")
"""Parameters that are no filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What one page puts to the reader."""

    kind: Kind
    rows: Sequence[Row] = ()
    """To be dealt with."""
    others: Sequence[tuple[Row, str]] = ()
    """Chosen, and why it cannot be done to them."""
    query: str = ""
    """The filters; empty: chosen one by one."""
    filters: Sequence[On] = ()
    wrong: str = ""
    """Why nothing can be done with what was asked."""

    @property
    def meant(self) -> str:
        """The runs and how each stands, for the form."""
        runs = [row.run for row in self.rows]
        stands = ",".join(footing.of(self.kind.value, run, run.lease.fence) for run in runs)
        return f"{addresses.pack(run.pk for run in runs)}.{stands}"


def of(asked: QueryDict, kind: Kind, user: User) -> Selection:
    """What the address asks for, of the runs that this person may see. A constant number of
    queries. Raises SearchTooSlow."""
    if not asked.get("all"):
        return _picked(asked, kind, user)
    query = filters(asked, user)
    form = FilterForm(query, user=user)
    if not form.is_valid() or not form.used:
        return Selection(kind=kind, wrong=_wrong(form))
    with patience(errors.SearchTooSlow):
        found = _matching(form, kind, user).page(limit=MOST + 1)
    on = list(forms.on(form, query))
    if len(found) > MOST:
        wrong = _("More than %(most)s runs meet these filters. Narrow them first.")
        return Selection(kind=kind, filters=on, wrong=wrong % {"most": f"{MOST:,}"})
    return _selection(found, kind, user, query=query.urlencode(), filters=on)


def _wrong(form: FilterForm) -> str:
    if form.is_valid():
        return _("No filter is on, and all runs there are cannot be meant. Choose a filter first.")
    said = [f"{bound.label}: {bound.errors[0]}" for bound in form if bound.errors]
    return " ".join((_("These filters cannot be used."), *said))


def matched(asked: QueryDict, kind: Kind, user: User) -> int | None:
    """How many runs meet the filters now, up to one more than MOST; None if there are none. Raises
    SearchTooSlow."""
    form = FilterForm(filters(asked, user), user=user)
    if not asked.get("all") or not form.is_valid():
        return None
    with patience(errors.SearchTooSlow):
        return _matching(form, kind, user).runs().values("pk")[: MOST + 1].count()


def filters(asked: QueryDict, user: User) -> QueryDict:
    """The filters alone, with nobody in them who is called "me"."""
    left = asked.copy()
    for name in (*OWN, *forms.LOOKS, *addresses.CURSORS):
        left.pop(name, None)
    if left.get("owner") == forms.ME:
        left["owner"] = str(user.pk)
    return left


def read_meant(text: str) -> list[tuple[UUID, str]]:
    """What `Selection.meant` has written; nothing of anything else."""
    packed, _dot, stands = text.partition(".")
    ids, each = addresses.unpack(packed, MOST + 1), stands.split(",")
    if len(ids) != len(each) or any(len(one) > footing.MOST for one in each):
        return []
    return list(zip(ids, each, strict=True))


def kind_of(asked: QueryDict) -> Kind | None:
    return KINDS.get(str(asked.get("kind", "")))


def _matching(form: FilterForm, kind: Kind, user: User) -> finding.Scope:
    asked = form.filters()
    able = finding.in_state(asked) & Q(status__in=kind.states)
    return finding.of(asked, user).only(able)


def _picked(asked: QueryDict, kind: Kind, user: User) -> Selection:
    ids = _ids(asked.getlist("pick"))
    if len(ids) > MOST_CHOSEN:
        wrong = _(
            "%(count)s runs are chosen; one by one at most %(most)s are dealt with at once. Choose"
            " fewer, or all that meet some filters."
        )
        return Selection(kind=kind, wrong=wrong % {"count": len(ids), "most": MOST_CHOSEN})
    found = visible.to(user).select_related("lease", "started_by").filter(pk__in=ids)
    return _selection(list(found.order_by("-created_at", "-id")), kind, user)


def _ids(texts: Sequence[object]) -> list[UUID]:
    found: dict[UUID, None] = {}
    for text in texts:
        try:
            found[UUID(str(text))] = None
        except ValueError:
            continue
    return list(found)


def _selection(
    runs: list[Run], kind: Kind, user: User, *, query: str = "", filters: Sequence[On] = ()
) -> Selection:
    now = clock.page()
    judged = [(row, _why_not(row, kind, now)) for row in queries.rows(runs, user)]
    return Selection(
        kind=kind,
        rows=[row for row, why in judged if not why],
        others=[(row, why) for row, why in judged if why],
        query=query,
        filters=filters,
    )


def _why_not(row: Row, kind: Kind, now: datetime) -> str:
    """Empty: it can be done."""
    run = row.run
    if run.ended:
        return _("It has ended.")
    if kind.fresh and standing.is_live(run.lease, now):
        return _("%(holder)s holds its lease and renews it.") % {"holder": run.lease.holder}
    if kind.control.fits(row):
        return ""
    if run.cancel_asked_at is not None:
        return _("Somebody has asked to cancel it already.")
    if run.status == Status.PARKED:
        return PARKS[run.park_reason].sentence
    return _("A worker takes it by itself.")

"""The audit log, for auditors; and for who may act on runs, what they did themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_safe

from accounts import groups
from accounts.errors import NotPermitted
from accounts.models import User
from accounts.saved import views as saved
from accounts.speech import later as _
from audit import exports, ports, queries
from audit.forms import FiltersForm
from audit.models import Entry
from audit.verbs import VERBS, Verb

SIZE = 25
"""Entries on a page."""
MOST_PEOPLE = 200
"""Names that the field "Who" suggests."""
SEE_ALL = "audit.view_entry"
ACTS = (
    "runs.start_run",
    "runs.cancel_run",
    "runs.retry_run",
    "runs.force_resume_run",
    "runs.ask_again_run",
    "runs.emergency_stop",
    "ledger.settle_effect",
)
"""Who has one of these without SEE_ALL sees their own entries."""
PAGES = {
    "run": "runs:run",
    "request": "approvals:review",
    "effect": "ledger:effect",
    "operation": "runs:operation",
}
"""Kind of target to the address of its page."""
LISTS = {"stop": "ledger:stops"}
"""Kind of target to the address of a page about all of its kind."""
GIST = ("title", "agent", "scope", "name", "tool", "verdict", "what")
"""Facts that say in a word what an entry is about."""
THROUGH = {
    "page": _("on a page"),
    "bulk": _("on a page, many at once"),
    "api": _("through the API"),
    "command": _("on the command line"),
    "worker": _("by itself"),
    "demo": _("as part of the demo"),
}
KINDS = {
    "agent": _("agent"),
    "bulk": _("many at once"),
    "delegation": _("delegation"),
    "drift": _("change on retry"),
    "effect": _("effect"),
    "export": _("export"),
    "hook": _("webhook"),
    "log": _("log"),
    "message": _("message"),
    "operation": _("operation"),
    "person": _("person"),
    "policy": _("policy"),
    "request": _("request"),
    "retention": _("retention"),
    "run": _("run"),
    "stop": _("stop"),
}
UNKNOWN = Verb(
    label=_("Unknown"),
    sentence=_("This version of Signalbox does not know the action."),
    tone="neutral",
    icon="help",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Entries, and the addresses of the pages before and after them; empty where there is none."""

    entries: list[Entry] = field(default_factory=list)
    newer: str = ""
    older: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entry as the list shows it."""

    entry: Entry
    verb: Verb
    gist: str
    """What the facts of the entry say first: title, verdict, tool, …"""
    kind: str
    """What kind of thing it was about."""
    through: str
    title: str
    """What it is called; empty where nobody knows, or this reader may not."""
    target_url: str
    run: str
    """The title or the id of the run to which it belongs."""
    run_url: str
    """Empty where the run is the target."""


@require_safe
def entries(request: HttpRequest) -> HttpResponse:
    """The newest entries that match the filters, a page at a time."""
    reader, own_only = _reader(request.user)
    form = FiltersForm(request.GET)
    page = Page()
    if form.is_valid():
        filters = form.filters()
        if own_only:
            filters = replace(filters, actor_id=str(request.user.pk), actor_label="")
        page = _page(request, filters)
    context = {
        "form": form,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "rows": _rows(page.entries, reader),
        "newer": page.newer,
        "older": page.older,
        "onward": "after" in request.GET or "before" in request.GET,
        "first": _here(request),
        "own_only": own_only,
        "newest": queries.NEWEST,
        "saved": saved.of(reader, request.path),
        "here": request.path,
        "query": _here(request).removeprefix("?"),
        "may_export": not own_only and request.user.has_perm(exports.PERMISSION),
        "standing": None if own_only else queries.standing(),
        "people": () if own_only else User.objects.order_by("email")[:MOST_PEOPLE],
    }
    return render(request, "audit/list.html", context)


def _reader(user: object) -> tuple[User, bool]:
    """This person, and whether they see only their own entries. Raises NotPermitted."""
    if not isinstance(user, User):
        raise _refusal("Somebody not signed in")
    if user.has_perm(SEE_ALL):
        return user, False
    if any(user.has_perm(permission) for permission in ACTS):
        return user, True
    raise _refusal(user.label)


def _refusal(who: str) -> NotPermitted:
    right = groups.right(SEE_ALL)
    return NotPermitted(SEE_ALL, label=right.label, groups=right.groups, who=who)


def _page(request: HttpRequest, filters: queries.Filters) -> Page:
    after, before = _id(request, "after"), _id(request, "before")
    found = queries.entries(filters, after_id=after, before_id=before, limit=SIZE + 1)
    more = len(found) > SIZE
    if before is not None:
        shown, newer, older = found[-SIZE:], more, True
    else:
        shown, newer, older = found[:SIZE], after is not None, more
    if not shown:
        return Page()
    return Page(
        entries=shown,
        newer=_here(request, before=shown[0].id) if newer else "",
        older=_here(request, after=shown[-1].id) if older else "",
    )


def _here(request: HttpRequest, **cursor: int) -> str:
    """The address of another page of the same list."""
    query = request.GET.copy()
    for name in ("after", "before"):
        query.pop(name, None)
    query.update({name: str(value) for name, value in cursor.items()})
    return f"?{query.urlencode()}"


def _id(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def _rows(entries: list[Entry], reader: User) -> list[Row]:
    about = {(entry.target_kind, entry.target_id) for entry in entries}
    about |= {("run", str(entry.run_id)) for entry in entries if entry.run_id}
    titles = ports.titles(about, reader)
    return [_row(entry, titles) for entry in entries]


def _row(entry: Entry, titles: Mapping[ports.Target, str]) -> Row:
    title = titles.get((entry.target_kind, entry.target_id), "")
    run_id = str(entry.run_id)
    return Row(
        entry=entry,
        verb=VERBS.get(entry.verb, UNKNOWN),
        gist=_gist(entry.data, title),
        kind=KINDS.get(entry.target_kind, entry.target_kind),
        through=THROUGH.get(entry.entry, f"through “{entry.entry}”"),
        title=title,
        target_url=_url(entry.target_kind, entry.target_id),
        run=titles.get(("run", run_id), run_id[-8:]),
        run_url=_url("run", run_id) if _of_a_run(entry) else "",
    )


def _gist(data: object, title: str) -> str:
    if not isinstance(data, dict):
        return ""
    told = (data.get(name) for name in GIST)
    return " · ".join(text for text in told if isinstance(text, str) and text not in ("", title))


def _of_a_run(entry: Entry) -> bool:
    return entry.run_id is not None and entry.target_id != str(entry.run_id)


def _url(kind: str, identity: str) -> str:
    """The page about this thing; empty where there is none."""
    try:
        if kind in LISTS:
            return reverse(LISTS[kind])
        return reverse(PAGES[kind], args=[identity]) if kind in PAGES else ""
    except NoReverseMatch:
        return ""

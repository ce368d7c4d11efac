"""The filters of the list of runs, as they stand in its address and as people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.moments import MomentField
from runs import ports, registry, secondhand, standing, web
from runs.forms import LIKE_CODE
from runs.listing import finding, search
from runs.listing.filters import Filters
from runs.listing.search import Leaf, Search
from runs.status import OVERLAYS, STATES

SINCE = {
    "1h": (_("Last hour"), timedelta(hours=1)),
    "24h": (_("Last 24 hours"), timedelta(hours=24)),
    "7d": (_("Last 7 days"), timedelta(days=7)),
    "30d": (_("Last 30 days"), timedelta(days=30)),
}
ME = "me"
COLUMNS = (
    ("owner", _("Started by")),
    ("version", _("Version")),
    ("attempts", _("Attempts")),
    ("ended", _("Ended")),
)
"""What rows show besides if the address says so."""
SIZES = (25, 50, 75)
"""Rows on a page: with all columns, the most of them have less than 100,000 bytes."""
LOOKS = ("col", "size")
"""How the list looks, not what it holds."""
MORE = ("version", "error", "started_from", "started_until", "ended_from", "ended_until")
"""Fields that are folded away until one of them is used."""


def _states() -> list[tuple[str, object]]:
    overlays = [(name, OVERLAYS[name].label) for name in ("stuck", "stalled")]
    overlays.append((standing.DRIVEN, gettext("Running, driven by a worker")))
    return [("", _("Any status")), *((s.value, s.label) for s in STATES.values()), *overlays]


def _agents() -> list[tuple[str, object]]:
    declared = registry.declarations().values()
    return [("", _("Any agent")), *((each.name, each.shown) for each in declared)]


class FilterForm(forms.Form):
    """Which runs a list shows. An empty field shows all."""

    q = forms.CharField(
        label=_("Search"),
        max_length=300,
        required=False,
        widget=forms.TextInput(
            attrs={
                "type": "search",
                "placeholder": _("Title, id, key, or order_id:10366"),
                "aria-describedby": "how-to-search",
            }
            | LIKE_CODE
        ),
    )
    status = forms.ChoiceField(label=_("Status"), choices=_states, required=False)
    agent = forms.ChoiceField(label=_("Agent"), choices=_agents, required=False)
    since = forms.ChoiceField(
        label=_("Started"),
        choices=[("", _("Any time")), *((key, label) for key, (label, _each) in SINCE.items())],
        required=False,
    )
    owner = forms.ChoiceField(label=_("Started by"), required=False)
    version = forms.CharField(
        label=_("Version"), max_length=50, required=False, widget=forms.TextInput(attrs=LIKE_CODE)
    )
    error = forms.CharField(
        label=_("Failed with"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "TimeoutError"} | LIKE_CODE),
    )
    started_from = MomentField(label=_("Started from"), required=False)
    started_until = MomentField(label=_("Started before"), required=False)
    ended_from = MomentField(label=_("Ended from"), required=False)
    ended_until = MomentField(label=_("Ended before"), required=False)
    attention = forms.BooleanField(
        label=_("Needs an operator"), required=False, widget=forms.HiddenInput
    )
    col = forms.MultipleChoiceField(
        label=_("Columns"),
        choices=COLUMNS,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    size = forms.TypedChoiceField(
        label=_("Rows on a page"),
        choices=[(size, size) for size in SIZES],
        coerce=int,
        empty_value=None,
        required=False,
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self._offer("owner", [("", _("Anybody")), (ME, _("Me")), *self._somebody()])
        asked = str(self.data.get("agent", ""))
        known = registry.declarations()
        if asked and asked not in known and "\0" not in asked:  # of old runs: no longer declared
            self._offer("agent", [*_agents(), (asked, asked)])

    def _offer(self, name: str, choices: list[tuple[str, object]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices

    def _somebody(self) -> list[tuple[str, object]]:
        asked = str(self.data.get("owner", ""))
        if not asked.isdecimal() or len(asked) > 18:
            return []
        person = User.objects.filter(pk=asked).first()
        return [(asked, person.label)] if person else []

    def clean_q(self) -> Search:
        try:
            asked = search.read(self.cleaned_data["q"])
        except search.BadSearch as exc:
            raise forms.ValidationError(str(exc)) from exc
        self._require_shown(asked.leaves)
        for leaf in asked.leaves:
            self._require_known(leaf)
        return asked

    def _require_shown(self, leaves: Iterable[Leaf]) -> None:
        """Who may not see a value does not find it out by comparing it."""
        if not leaves or self.user.has_perm(web.REVEAL):
            return
        cloak = ports.masks().anywhere(self.user)
        for leaf in leaves:
            if leaf.hidden(cloak):
                raise forms.ValidationError(
                    gettext(
                        "Values such as this one of “%(path)s” are hidden from you, so they cannot"
                        " be searched for."
                    )
                    % {"path": leaf.path}
                )

    def _require_known(self, leaf: Leaf) -> None:
        if _declared(leaf.path) or finding.field_exists(leaf.path):
            return
        raise forms.ValidationError(
            gettext(
                "“%(path)s” is neither one of %(names)s nor a field of any run's input. Correct it,"
                " or put it into quotation marks to look for the words."
            )
            % {"path": leaf.path, "names": ", ".join(f"{name}:" for name in search.NAMES)}
        )

    def filters(self) -> Filters:
        """What a valid form asks for."""
        asked = self.cleaned_data
        owner = asked["owner"]
        return Filters(
            status=asked["status"],
            attention=asked["attention"],
            agent=asked["agent"],
            version=asked["version"],
            owner=str(self.user.pk) if owner == ME else owner,
            error=asked["error"],
            since=SINCE[asked["since"]][1] if asked["since"] else None,
            started_from=asked["started_from"],
            started_until=asked["started_until"],
            ended_from=asked["ended_from"],
            ended_until=asked["ended_until"],
            search=asked["q"],
        )

    @property
    def more(self) -> bool:
        """One of the folded fields is used, or wrong."""
        return any(self.data.get(name) or name in self.errors for name in MORE)

    @property
    def folded(self) -> list[forms.BoundField]:
        return [self[name] for name in MORE]

    @property
    def used(self) -> bool:
        return any(self.data.get(name) for name in self.fields if name not in LOOKS)


def reads(user: User) -> Callable[[QueryDict], bool]:
    """Tells of filters that somebody else has typed whether this person may read them."""
    return secondhand.reads(user, ("q",), _compared)


def _compared(query: QueryDict) -> Iterable[Leaf]:
    return search.read(str(query.get("q", ""))).leaves


def _declared(path: str) -> bool:
    """Whether some agent says in its schema that its input has such a field."""
    return any(_has(each.input_schema, path) for each in registry.declarations().values())


def _has(schema: object, path: str) -> bool:
    for name in path.split("."):
        fields = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(fields, dict) or name not in fields:
            return False
        schema = fields[name]
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class On:
    """A filter that is on, and what is left of the query without it."""

    label: str
    value: str
    without: QueryDict


def on(form: FilterForm, query: QueryDict) -> Iterator[On]:
    """One for each filter of a form that was looked at; none for those that are wrong."""
    for name, field in form.fields.items():
        if name in LOOKS or not form.cleaned_data.get(name):
            continue
        rest = query.copy()
        rest.pop(name, None)
        yield On(label=str(field.label), value=_words(form, name), without=rest)


def _words(form: FilterForm, name: str) -> str:
    field, value = form.fields[name], form.cleaned_data[name]
    if isinstance(field, forms.ChoiceField) and isinstance(field.choices, Iterable):
        return next((str(label) for key, label in field.choices if key == value), str(value))
    if isinstance(field, forms.BooleanField):
        return ""
    if isinstance(field, forms.DateTimeField):
        return f"{timezone.localtime(value):%Y-%m-%d %H:%M}"
    return str(form.data.get(name, ""))

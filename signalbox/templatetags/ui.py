"""The components of the pages. `{% load ui %}`, then:

Words and marks
    {% icon "check" %}                    one of static/icons.svg; drawn beside a word, never alone
    {% badge state %}                     anything with label, tone, icon and sentence
    {% badge state label="Retrying at 14:03" %}
    {{ text|visible }}                    text of strangers: escaped, hidden characters shown
    {{ text|deceiving }}                  the same, but empty if there is nothing to point out
    {{ texts|quoted }}                    several, each in quotation marks, with commas
    {{ text|ours|visible }}               what was kept in English, translated if we said it
    {{ text|plain }}                      the same on one line of plain text, not escaped
    {{ state.label|inside }}              "done": a label as it is inside of a sentence
    {{ holder|joints }}                   a worker, a tool: breaks at @ : . _ / only
    {{ run.id|short }}                    the last eight characters
    {% ident run.id %}                    the same, with the whole in a tooltip and a copy button
    {% copy text "Copy the JSON" %}       a button; there only where a script can copy

Time, size, money
    {% when dt %}                         "3 min ago", kept right by time.js; for people who
                                          chose so, the same as stamp
    {% stamp dt %}                        "2026-11-29 16:21:04" in the reader's zone
    {% moment dt %}                       "2026-11-29 16:21", for mails
    {% stamp dt "time" %}  {% stamp dt "ms" %}   "16:21:04.112", or with the date before it
    {{ timedelta|duration }}              "2m 14s"; takes seconds too
    {{ count|bytes }}  {{ minor|money:"EUR" }}

Values
    {% json_tree value %}                 <details> tree; {% json_tree value download=url %}
    {% diff before after %}               table of changes by path

Blocks
    {% notice "warn" %}…{% endnotice %}   {% notice "human" href=url action="Review request" %}…
    {% empty_state "inbox" "Nothing needs you" %}<p>…</p>{% endempty_state %}   tone="ok": good news
    {% pager newer=url older=url %}       keyset pages
    {% field form.reason %}               label, hint, control and errors, tied to each other
    {% fields form %}                     errors of the whole form, then all its fields
    {% csrf_token %}{% writer %}          in a form whose view keeps what is typed: drafts.keeps

Live regions
    <section id="runs" {% live url 10 %}> asks `url` every 10 seconds and morphs the answer in,
                                          until an answer has status 286 (nothing changes any more)
    {% live_control 10 %}                 "Live, every 10 s" and the button that pauses

Classes for plain HTML: panel (header, .body, footer), head and crumbs, row, push, stack, split,
tabs, chips, facts, stats, list and cards for tables (a.open is the link of the row; data-label on
td is its heading on phones), filters, form, buttons, btn (primary, danger, quiet, small), decide,
quote, num, mono, soft. A page of confirmation extends components/confirm.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

from django import forms, template
from django.conf import settings
from django.contrib.messages.storage.base import Message
from django.template.context import Context
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from accounts import drafts, reading, speech
from accounts.models import User
from signalbox import jsondiff, jsontree, words
from signalbox import visible as visible_text

register = template.Library()

ICONS = frozenset(
    re.findall(r'<symbol id="([\w-]+)"', Path(settings.BASE_DIR, "static/icons.svg").read_text())
)
JOINTS = re.compile(r"([@:._/]+)(?=\w)")
"""Where the name of a worker, a tool or an agent may go on in the next line."""
TONES = ("neutral", "info", "human", "ok", "warn", "bad")
NOTICE_ICONS = {
    "neutral": "info",
    "info": "info",
    "human": "person",
    "ok": "check",
    "warn": "triangle",
    "bad": "stop",
}


class State(Protocol):
    """What a badge needs to know."""

    @property
    def label(self) -> str: ...
    @property
    def tone(self) -> str: ...
    @property
    def icon(self) -> str: ...
    @property
    def sentence(self) -> str: ...


@register.simple_tag
@cache
def icon(name: str) -> SafeString:
    """ValueError if the sprite has no such icon."""
    if name not in ICONS:
        raise ValueError(f"static/icons.svg has no icon called {name!r}")
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>',
        static("icons.svg"),
        name,
    )


@register.simple_tag
def badge(state: State, label: str = "", *, beside: str = "") -> SafeString:
    """`beside`: the words that stand next to it. A tooltip would not say them once more."""
    sentence = str(state.sentence)
    return format_html(
        '<span class="badge tone-{}"{}>{}{}</span>',
        state.tone,
        "" if sentence == beside else format_html(' title="{}"', sentence),
        icon(state.icon),
        label or state.label,
    )


@register.filter
def upto(number: int, most: int) -> str:
    """A number that was not counted further than this: "99+"."""
    return f"{most}+" if number > most else str(number)


@register.filter
def visible(text: object) -> SafeString:
    """Errors of ours are in the reader's language."""
    return visible_text.visible(text.shown if isinstance(text, speech.Spoken) else str(text))


@register.filter
def joints(name: object) -> SafeString:
    """A name out of programs, escaped, which breaks at its joints before it breaks elsewhere."""
    shown = visible(name)
    return shown if "<" in shown else mark_safe(JOINTS.sub(r"\1<wbr>", shown))  # noqa: S308  # escaped


@register.filter
def ours(text: object) -> str:
    """A text that was kept in English, in the reader's language where it is one of ours."""
    return speech.shown(text)


@register.filter
def deceiving(text: str) -> SafeString | str:
    """The same where `text` has characters that deceive a reader; empty where it has none."""
    shown = visible_text.visible(text)
    return shown if "<mark" in shown else ""


@register.filter
def plain(text: object) -> str:
    return visible_text.plain(str(text))


@register.filter
def quoted(texts: Iterable[object]) -> SafeString:
    """Texts of strangers in quotation marks, with commas between them."""
    marks = pgettext("a word in quotation marks", "“{word}”")
    return format_html_join(
        ", ", marks.replace("{word}", "{}"), ((visible(each),) for each in texts)
    )


@register.filter
def inside(label: str) -> str:
    """A label as it is written inside of a sentence."""
    return speech.inside(label)


@register.filter
def short(identifier: object) -> str:
    return str(identifier)[-8:]


@register.simple_tag
def ident(identifier: object) -> SafeString:
    return format_html(
        '<span class="id"><code title="{}">{}</code>{}</span>',
        identifier,
        short(identifier),
        copy(identifier, _("Copy the id that ends in {end}").format(end=short(identifier))),
    )


@register.simple_tag
def copy(text: object, label: str = "") -> SafeString:
    return format_html(
        '<button type="button" class="copy" data-copy="{}" title="{}" hidden>'
        '{}<span class="vh">{}</span></button>',
        text,
        label or _("Copy"),
        icon("copy"),
        label or _("Copy"),
    )


@register.simple_tag(takes_context=True)
def when(context: Context, moment: datetime | None) -> SafeString | str:
    """How long ago, or how soon. A dash for None."""
    if moment is None or reading.style().absolute:
        return stamp(moment)
    now = context.get("server_now") or timezone.now()
    return format_html(
        '<time datetime="{}" title="{}" data-relative>{}</time>',
        _iso(moment),
        _both(moment),
        words.relative(moment, now),
    )


@register.simple_tag
def stamp(
    moment: datetime | None, form: Literal["date", "time", "ms"] = "date"
) -> SafeString | str:
    """The moment in the reader's zone. A dash for None."""
    if moment is None:
        return "\N{EM DASH}"
    local = timezone.localtime(moment)
    style = {"milliseconds": form != "date", "twelve": reading.style().twelve}
    text = (words.time_of_day if form == "time" else words.date_and_time)(local, **style)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', _iso(moment), _both(moment), text
    )


@register.simple_tag
def moment(moment: datetime) -> str:
    """The moment in the reader's zone as plain text, for mails."""
    return words.date_and_minute(timezone.localtime(moment))


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _both(moment: datetime) -> str:
    """The moment in the reader's zone and in UTC, for a tooltip."""
    local = timezone.localtime(moment)
    utc = f"{words.date_and_time(moment.astimezone(UTC))} UTC"
    same = local.utcoffset() == timedelta(0)
    return utc if same else f"{words.date_and_time(local)} {local:%Z} · {utc}"


@register.filter
def duration(length: timedelta | float | None) -> str:
    return "\N{EM DASH}" if length is None else words.duration(length)


@register.filter(name="bytes")
def size(count: int) -> str:
    return words.size(count)


@register.filter
def money(minor: int, currency: str) -> str:
    return words.money(minor, currency)


@register.simple_tag
def json_tree(value: object, download: str = "") -> SafeString:
    return jsontree.tree(value, download)


@register.inclusion_tag("components/_diff.html")
def diff(before: object, after: object, label: str = "") -> dict[str, object]:
    """`label` names the table's region; no two regions of a page may have one name."""
    return {"difference": jsondiff.compare(before, after), "label": label or _("Changed values")}


@register.simple_block_tag
def notice(content: str, tone: str, href: str = "", action: str = "") -> SafeString:
    """Something the reader should know; at most one thing to do about it."""
    if tone not in TONES:
        raise ValueError(f"{tone!r} is not a tone: {', '.join(TONES)}")
    link = format_html('<a href="{}">{}</a>', href, action) if href else ""
    return format_html(
        '<div class="notice tone-{}">{}<div>{}</div>{}</div>',
        tone,
        icon(NOTICE_ICONS[tone]),
        content,
        link,
    )


@register.simple_block_tag
def empty_state(content: str, name: str, title: str, tone: str = "") -> SafeString:
    """Nothing to show, and what that means. `tone` "ok" for good news."""
    return format_html(
        '<div class="empty{}">{}<h2>{}</h2>{}</div>',
        f" tone-{tone}" if tone else "",
        icon(name),
        title,
        content,
    )


@register.inclusion_tag("components/_pager.html")
def pager(newer: str = "", older: str = "", note: str = "") -> dict[str, str]:
    return {"newer": newer, "older": older, "note": note}


@register.inclusion_tag("components/_field.html")
def field(bound: forms.BoundField, label: str = "") -> dict[str, object]:
    """One field of a form. `label` overrides the form's own."""
    kind = bound.widget_type
    return {
        "field": bound,
        "label": label or bound.label,
        "check": kind == "checkbox",
        "choices": bound.use_fieldset and kind in ("radioselect", "checkboxselectmultiple"),
    }


@register.inclusion_tag("components/_fields.html")
def fields(form: forms.BaseForm) -> dict[str, object]:
    return {"form": form}


@register.simple_tag(takes_context=True)
def writer(context: Context) -> SafeString | str:
    """The hidden field of a form that says for whom its page was made: see `accounts.drafts`."""
    user = context.get("user")
    if not isinstance(user, User):
        return ""
    field = '<input type="hidden" name="{}" value="{}">'
    return format_html(field, drafts.WRITER, drafts.sign(user))


@register.simple_tag
def live(url: str, seconds: int, *, quiet: bool = False) -> SafeString:
    """Attributes of a region that keeps itself up to date. The element needs an id.

    `quiet`: too small for a note when updates fail.
    """
    attributes = (
        'data-live="{}" hx-get="{}" hx-trigger="live" hx-target="this" hx-ext="morph"'
        ' hx-swap="morph:innerHTML"'
    )
    return format_html(f"{attributes} data-quiet" if quiet else attributes, seconds, url)


@register.inclusion_tag("components/_live_control.html")
def live_control(seconds: int) -> dict[str, int]:
    return {"seconds": seconds}


MESSAGE_TONES = {"success": "ok", "warning": "warn", "error": "bad", "info": "info"}


@register.filter
def tone(message: Message) -> str:
    """The tone of a notice for one of Django's messages."""
    return MESSAGE_TONES.get(message.level_tag, "neutral")

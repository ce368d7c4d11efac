"""What pages of a run are told by the layers above: effects, questions, and what they mean.

The values here are what an implementation of `runs.ports.Story` hands over; templates draw them.
A phrase is text with moments in it, so that a page can show each moment relative to now. `told`
makes one of a whole sentence, which can be translated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from string import Formatter

from runs.status import State


@dataclass(frozen=True, slots=True)
class Piece:
    """Either text or a moment, relative to now or as its time of day."""

    text: str = ""
    at: datetime | None = None
    exact: bool = False


Phrase = tuple[Piece, ...]


def phrase(*parts: str | datetime | None) -> Phrase:
    """`phrase("lease ended ", moment)`; None and empty text are left out."""
    return tuple(
        Piece(at=part) if isinstance(part, datetime) else Piece(text=str(part))
        for part in parts
        if part
    )


def exact(at: datetime | None) -> Phrase:
    """A moment by its time of day, in a place that tells of others of the same day."""
    return (Piece(at=at, exact=True),) if at else ()


def told(text: str, **values: object) -> Phrase:
    """`text`, in the reader's language, with its {names} filled. A moment stays a moment."""
    parts: list[str | datetime] = [""]
    for literal, name, _form, _how in Formatter().parse(text):
        value = values[name] if name else ""
        if isinstance(value, datetime):
            parts += [f"{parts.pop()}{literal}", value, ""]
        else:
            parts.append(f"{parts.pop()}{literal}{value}")
    return phrase(*parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """A tab of the run page: its place in the address, and what its table is called."""

    slug: str
    label: str
    permission: str
    columns: tuple[str, str, str, str]
    """Headings: the thing, its status, its detail, its time."""
    nothing: str
    """What it means that there are no rows; plain text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One row of a tab."""

    title: str
    url: str
    state: State
    detail: str = ""
    note: Phrase = ()
    """A second line below the title."""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to the run, for its timeline."""

    at: datetime
    state: State
    text: str
    note: Phrase = ()
    length: timedelta | None = None
    """How long it took."""
    url: str = ""
    anchor: str = ""
    """Id of its row in the table."""
    kind: str = ""
    """By which the table can be filtered: the slug of the tab that knows more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something at one moment, for the chart."""

    at: datetime
    tone: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One part of a span: work, or waiting (`idle`)."""

    start: datetime
    end: datetime | None
    """None: it goes on."""
    tone: str
    label: str
    idle: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something of a layer above that takes time, for the chart: an effect, a question."""

    title: str
    kind: str
    """The slug of the tab that knows more."""
    stages: tuple[Stage, ...]
    """In order of time, at least one."""
    marks: tuple[Mark, ...] = ()
    task: str = ""
    """The id of LangGraph's task that it belongs to, if that is known."""
    node: str = ""
    """The node of that task."""
    url: str = ""

    @property
    def start(self) -> datetime:
        return self.stages[0].start

    @property
    def end(self) -> datetime | None:
        return self.stages[-1].end


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """Something that one attempt did outside, or asked for, so that attempts can be compared."""

    fence: int
    """Of the attempt."""
    at: datetime
    place: str
    """Where in the graph, `{node}@{task}` and the tool call if there is one: the same in every
    attempt that comes there."""
    kind: str
    """What is compared with what: deeds of one kind at one place."""
    key: str
    """The same for what is the same thing, whichever attempt asked for it."""
    instead_of: str = ""
    """The key of what an earlier attempt had asked for here, if this is known to replace it."""
    title: str
    state: State
    args: object
    """What differs if it differs. Not masked: whoever shows it does that."""
    note: str = ""
    url: str = ""

    @property
    def node(self) -> str:
        return self.place.partition("@")[0]

    @property
    def task(self) -> str:
        return self.place.rpartition("@")[2].partition("/")[0]


Hide = Callable[[object], object]
"""A value as the reader of a file may see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Part of the file that tells everything of a run. Moments and ids are written as text."""

    name: str
    rows: Iterable[Mapping[str, object]] = ()
    left_out: str = ""
    """Why the reader gets none of it; plain text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What somebody is expected to do about the run, and where."""

    tone: str
    text: Phrase
    url: str = ""
    action: str = ""
    key: str = ""
    """Of the advice that it gives: see `runs.advice`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing to know before acting on the run."""

    label: str
    value: str
    state: State | None = None
    """Worth a badge."""
    url: str = ""
    note: Phrase = ()
    """A second line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One line about a run in a list. `state` is an overlay that the line explains."""

    reason: Phrase
    state: State | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One thing outside that the run would touch, or has touched, and what becomes of it."""

    title: str
    state: State
    says: Phrase
    """One plain sentence."""
    detail: str = ""
    """The provider's reference."""
    url: str = ""
    asked: bool = False
    """It is what the question is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What is known of what a run would touch outside, before somebody acts on it."""

    touches: tuple[Touch, ...]
    more: int = 0
    """That are not shown one by one."""
    holds: tuple[Notice, ...] = ()
    """What forbids sending anything."""
    nothing: str
    """What it means that there are no touches."""
    unknown: str = ""
    """What cannot be known beforehand."""

"""Values of a run as one reader may see them, and as much of them as a page can carry.

A channel is a field of the state, and what a task wrote is masked as that field: its name may be
why it is hidden.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode
from uuid import UUID

from accounts.models import User
from runs import masking, ports
from runs.masking import Cloak, Masked
from runs.trace.states import State, Written

LARGEST = 60 * 1024
"""Characters of JSON that a page carries of one state; beyond, fields are offered as files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Large:
    """One field that is too big for the page."""

    name: str
    size: int
    """Characters of JSON, what is hidden left out."""
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Fields as a page shows them."""

    fields: dict[str, object]
    """What fits."""
    large: list[Large] = field(default_factory=list)
    size: int = 0
    """Characters of JSON of everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One state, with what its reader does not see replaced."""

    state: State
    values: dict[str, object]
    written: tuple[Written, ...]
    hidden: int


def cloak(run_id: UUID, user: User, *, everything: bool) -> Cloak | None:
    """What this person does not see in the run; None: they asked to see all of it, and may."""
    return None if everything else ports.cloak(run_id, user)


def masked(value: object, hides: Cloak | None) -> Masked:
    return Masked(value=value, hidden=0) if hides is None else masking.mask(value, hides)


def text(said: str, hides: Cloak | None) -> str:
    """A text as it may be shown."""
    return str(masked(said, hides).value)


def state(saved: State, hides: Cloak | None) -> Shown:
    values = masked(saved.values, hides)
    fields = [masked({each.channel: each.value}, hides) for each in saved.pending]
    return Shown(
        state=saved,
        values=_fields(values.value),
        written=tuple(
            Written(
                task=each.task,
                node=each.node,
                channel=each.channel,
                value=_fields(shown.value)[each.channel],
            )
            for each, shown in zip(saved.pending, fields, strict=True)
        ),
        hidden=values.hidden + sum(each.hidden for each in fields),
    )


def by_task(written: Iterable[Written]) -> dict[str, object]:
    """What tasks wrote, for a tree: by node, and by channel within."""
    tasks: dict[str, dict[str, object]] = {}
    names: dict[str, str] = {}
    for each in written:
        if each.task not in names:
            name = each.node or f"task {each.task[:8]}"
            names[each.task] = name if name not in tasks else f"{name} ({each.task[:8]})"
        fields = tasks.setdefault(names[each.task], {})
        channel = each.channel
        while channel in fields:  # a task may write to one channel more than once
            channel += "*"
        fields[channel] = each.value
    return dict(tasks)


def fit(fields: Mapping[str, object], download: str) -> Fitted:
    """The smaller fields whole, as long as they fit together; the others as links to files.

    `download` is the address of all of them; a field is asked for with `field`.
    """
    sizes = {name: _size(value) for name, value in fields.items()}
    left, fits = LARGEST, set()
    for name in sorted(sizes, key=lambda name: (sizes[name], name)):
        if sizes[name] > left:
            break
        left -= sizes[name]
        fits.add(name)
    return Fitted(
        fields={name: value for name, value in fields.items() if name in fits},
        large=[
            Large(name=name, size=size, url=with_query(download, field=name))
            for name, size in sizes.items()
            if name not in fits
        ],
        size=sum(sizes.values()),
    )


def with_query(url: str, **asked: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(asked)}"


def _size(value: object) -> int:
    """Characters of JSON. Pages show nothing that is nested too deep to be counted."""
    return len(json.dumps(value, ensure_ascii=False))


def _fields(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise AssertionError("a mask of an object is an object")
    return value

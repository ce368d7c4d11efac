"""The agents that may be started, as settings declare them.

A declaration is plain data. Every process reads it; only processes that drive load the graph behind
it (`runs.graphs`), so an agent's code never runs in a web process.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import timedelta
from functools import cache
from string import Formatter
from typing import Any

import jsonschema
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from runs import errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One entry of RUNS_AGENTS."""

    name: str
    """How callers name it; stored on every run."""
    graph: str
    """Dotted path of a compiled StateGraph or an @entrypoint."""
    version: str
    """Stored on every run at admission. Raise it when runs under way could notice the change."""
    label: str = ""
    title: str = ""
    """Template of a run's title; `{field}` takes a top-level field of the input."""
    compatible_with: tuple[str, ...] = ()
    """Older (or newer) versions whose runs this version may continue."""
    input_schema: Mapping[str, Any] | None = None
    """JSON Schema that the input must fit."""
    stall_after: timedelta | None = None
    """Longest time without progress; default RUNS_STALL_AFTER."""
    tries: int | None = None
    """Attempts at one head for errors that may pass; default RUNS_TRIES."""
    transient: str = ""
    """Dotted path of `f(exception) -> bool | None`: may it pass by itself? None: as usual."""
    recursion_limit: int | None = None
    run_async: bool | None = None
    """Drive with `ainvoke`. None: if some node has only an async form."""

    @property
    def shown(self) -> str:
        return self.label or self.name

    def fits(self, version: str) -> bool:
        """Whether this version may drive a run that was admitted under `version`."""
        return version == self.version or version in self.compatible_with

    def title_for(self, given: object) -> str:
        """The run's title; a field that the input lacks is shown as an ellipsis."""
        values = given if isinstance(given, dict) else {"input": given}
        wanted = [name for _, name, _, _ in Formatter().parse(self.title) if name]
        shown = {name: str(values.get(name, "…")) for name in wanted}
        return (self.title.format_map(shown) if self.title else self.shown)[:300]


@cache
def declarations() -> dict[str, Declaration]:
    """Every declared agent by name. Raises ImproperlyConfigured and says which entry is wrong."""
    found: dict[str, Declaration] = {}
    for number, entry in enumerate(settings.RUNS_AGENTS):
        declared = _declared(f"RUNS_AGENTS[{number}]", entry)
        if declared.name in found:
            raise ImproperlyConfigured(f"RUNS_AGENTS names {declared.name!r} twice.")
        found[declared.name] = declared
    return found


def _declared(where: str, entry: Mapping[str, Any]) -> Declaration:
    known = {item.name: item for item in fields(Declaration)}
    for key in entry:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ImproperlyConfigured(f"{where}: unknown key {key!r}.{hint}")
    for key, item in known.items():
        if item.default is MISSING and key not in entry:
            raise ImproperlyConfigured(f"{where}: {key!r} is missing.")
    values = dict(entry)
    values["compatible_with"] = tuple(values.get("compatible_with", ()))
    declared = Declaration(**values)
    _usable(where, declared)
    return declared


def _usable(where: str, declared: Declaration) -> None:
    """What would otherwise fail only when somebody starts a run."""
    try:
        declared.title_for({})
    except (ValueError, LookupError, AttributeError) as exc:
        raise ImproperlyConfigured(
            f"{where}: the title {declared.title!r} cannot be filled in ({exc})."
            " Use {field}, where field is a top-level field of the input."
        ) from exc
    schema = dict(declared.input_schema or {})
    try:
        jsonschema.validators.validator_for(schema).check_schema(schema)
    except jsonschema.SchemaError as exc:
        raise ImproperlyConfigured(
            f"{where}: input_schema is no JSON Schema: {exc.message}."
        ) from exc


def declaration(name: str) -> Declaration:
    """Raises UnknownAgent, with the nearest name."""
    try:
        return declarations()[name]
    except KeyError:
        close = difflib.get_close_matches(name, declarations(), n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        known = ", ".join(sorted(declarations())) or "none"
        raise errors.UnknownAgent(
            f"No agent is named {name!r}.{hint} Registered: {known}."
        ) from None

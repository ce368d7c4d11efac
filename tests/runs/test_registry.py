"""What settings say about agents is checked when a process starts, not when a run does."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from runs import checks, errors, registry

ENTRY = {"name": "a", "graph": "agents.a.graph", "version": "1"}


@pytest.fixture
def declared(settings):
    def declared(*entries: dict[str, Any]) -> dict[str, registry.Declaration]:
        settings.RUNS_AGENTS = list(entries)
        registry.declarations.cache_clear()
        return registry.declarations()

    return declared


WRONG = {
    "misspelt key": (ENTRY | {"titel": "x"}, "unknown key 'titel'. Did you mean 'title'?"),
    "missing key": ({"name": "a", "graph": "g"}, "'version' is missing"),
    "title with an attribute": (ENTRY | {"title": "{order.id}"}, "the title '{order.id}' cannot"),
    "title with an index": (ENTRY | {"title": "{order[0]}"}, "cannot be filled in"),
    "title with a place": (ENTRY | {"title": "{} {0}"}, "cannot be filled in"),
    "title with a format": (ENTRY | {"title": "{cents:.2f}"}, "cannot be filled in"),
    "title that ends early": (ENTRY | {"title": "{cents"}, "cannot be filled in"),
    "no schema": (ENTRY | {"input_schema": {"type": "objekt"}}, "input_schema is no JSON Schema"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_entry_is_told_with_its_place(declared, name: str) -> None:
    entry, problem = WRONG[name]
    with pytest.raises(ImproperlyConfigured) as told:
        declared(ENTRY | {"name": "b"}, entry)
    assert str(told.value).startswith("RUNS_AGENTS[1]: ")
    assert problem in str(told.value)
    (error,) = checks.agents_declared()
    assert (error.id, error.msg) == ("runs.E007", str(told.value))


def test_two_agents_of_one_name_are_refused(declared) -> None:
    with pytest.raises(ImproperlyConfigured, match="names 'a' twice"):
        declared(ENTRY, ENTRY)


def test_a_right_entry_is_accepted(declared) -> None:
    entry = ENTRY | {
        "title": "{a!r:>5} {b}",
        "compatible_with": ["0.9"],
        "input_schema": {"type": "object"},
    }
    agent = declared(entry)["a"]
    assert agent.title_for({"a": 1}) == "  '1' …"
    assert agent.title_for({"b": "x" * 500}).endswith("x")
    assert len(agent.title_for({"b": "x" * 500})) == 300
    assert [agent.fits(version) for version in ("1", "0.9", "2")] == [True, True, False]
    assert checks.agents_declared() == []


def test_an_agent_without_a_title_is_called_by_its_label(declared) -> None:
    agents = declared(ENTRY, ENTRY | {"name": "b", "label": "Refunds"})
    assert [agent.title_for({}) for agent in agents.values()] == ["a", "Refunds"]


def test_an_unknown_name_is_told_with_what_there_is(declared) -> None:
    declared(ENTRY, ENTRY | {"name": "refund_desk"})
    with pytest.raises(errors.UnknownAgent) as told:
        registry.declaration("refund_dsk")
    assert str(told.value) == (
        "No agent is named 'refund_dsk'. Did you mean 'refund_desk'? Registered: a, refund_desk."
    )
    declared()
    with pytest.raises(errors.UnknownAgent, match="Registered: none"):
        registry.declaration("a")

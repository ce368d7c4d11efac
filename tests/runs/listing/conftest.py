"""Agents of the tests of the list."""

from __future__ import annotations

import pytest

from runs import registry

AGENTS = [
    {
        "name": "refund_desk",
        "label": "Refund desk",
        "graph": "x.y",
        "version": "1.0",
        "title": "Refund order {order_id}",
        "input_schema": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "email": {"type": "string"}},
        },
    },
    {"name": "triage", "label": "Triage", "graph": "x.y", "version": "2.1"},
]


@pytest.fixture(autouse=True)
def agents(settings) -> None:
    settings.RUNS_AGENTS = AGENTS
    registry.declarations.cache_clear()

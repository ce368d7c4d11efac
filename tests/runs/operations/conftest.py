"""Nobody is rung in the tests of operations."""

from __future__ import annotations

import pytest

from runs import dispatch


@pytest.fixture(autouse=True)
def called(monkeypatch) -> list[str]:
    """The tasks that somebody was asked for."""
    heard: list[str] = []

    def call_now(task: str) -> bool:
        heard.append(task)
        return True

    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, **_: True)
    monkeypatch.setattr(dispatch, "call_now", call_now)
    return heard

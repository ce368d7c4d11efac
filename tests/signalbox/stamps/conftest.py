"""Stamps are read anew each time."""

from __future__ import annotations

import pytest

from runs.models import Run
from signalbox import stamps
from tests.support import changes


@pytest.fixture(autouse=True)
def read_anew(monkeypatch) -> None:
    monkeypatch.setattr(stamps, "FRESH", 0)


@pytest.fixture
def run() -> Run:
    """One that has asked and done something."""
    return changes.busy()

"""Settings of a real worker that a test kills, and its agent: it works until a file is gone."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES

DATABASES["default"]["NAME"] = os.environ["PATIENT_DATABASE"]
RUNS_AGENTS = [{"name": "patient", "graph": "tests.support.patient.patient", "version": "1"}]
RUNS_LEASE = timedelta(seconds=3)
RUNS_HEARTBEAT = timedelta(seconds=0.5)
RUNS_LEASE_MARGIN = timedelta(seconds=1)


class _State(TypedDict, total=False):
    done: str


def _work(_: _State) -> Any:
    while Path(os.environ["PATIENT_UNTIL_GONE"]).exists():
        time.sleep(0.05)
    return {"done": "worked"}


def _agent() -> Any:
    builder: Any = StateGraph(_State)
    builder.add_node("begin", lambda state: {"done": "begun"})
    builder.add_node("work", _work)
    builder.add_edge(START, "begin")
    builder.add_edge("begin", "work")
    return builder.compile()


patient = _agent()

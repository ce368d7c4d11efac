"""Settings for benchmarks: the agents that they drive, and nothing else of their own."""

from __future__ import annotations

from signalbox.settings import *  # noqa: F403

RUNS_AGENTS = [{"name": "three", "graph": "benchmarks.drive.graph", "version": "1"}]

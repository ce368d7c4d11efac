"""A short play of the random crash harness; `python -m tests.chaos.harness` plays a long one."""

from __future__ import annotations

import os
import random

import pytest

from tests.chaos import harness

RUNS = 36


@pytest.mark.chaos
def test_under_random_kills_freezes_and_errors_every_run_ends_as_if_nothing_had_happened() -> None:
    seed = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(1_000_000))
    report = harness.play(runs=RUNS, seed=seed, seconds=200)
    said = "\n".join(harness.told(report))
    assert not report["violations"], f"CHAOS_SEED={seed}\n{said}"
    assert report["kills"] > RUNS, said
    assert report["errors"] > RUNS / 3, said

"""Which processes the demo consists of."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from signalbox.demo import ports, seed
from signalbox.demo.supervisor import Child

PYTHON = sys.executable
PROVIDER, WEB, WORK = range(3)
"""Stages: workers need the provider, and people want to see them stop."""


def all_of_them(state: Path, *, provider_port: int, web_port: int) -> list[Child]:
    """Every child; without the example provider as long as there is none."""
    worker = (PYTHON, "-m", "celery", "-A", "signalbox", "worker", "--loglevel", "INFO")
    quiet = ("--without-mingle", "--without-gossip")
    return [
        *_provider(state, provider_port, web_port),
        Child(
            name="web",
            # Browsers keep spare connections open, on which nothing will ever be asked.
            command=(
                PYTHON, "-m", "gunicorn", "-c", "signalbox/gunicorn_config.py",
                "--graceful-timeout", "4",
            ),
            stage=WEB,
        ),
        *(
            Child(
                name=f"worker-{number}",
                command=(
                    *worker, *quiet, "-n", f"worker-{number}@%h", "-Q", "runs", "-c", "2",
                ),
                stage=WORK,
                grace=25.0,
            )
            for number in (1, 2)
        ),
        Child(
            name="sweeper",
            command=(*worker, *quiet, "-n", "sweeper@%h", "-Q", "sweep", "-c", "2"),
            stage=WORK,
        ),
        Child(
            name="beat",
            command=(
                PYTHON, "-m", "celery", "-A", "signalbox", "beat", "--loglevel", "WARNING",
                "-s", str(state / "beat-schedule"),
            ),
            stage=WORK,
        ),
    ]  # fmt: skip


def _provider(state: Path, port: int, web_port: int) -> list[Child]:
    if find_spec("agents.fakepay") is None:
        return []
    command = (
        PYTHON, "-m", "agents.fakepay", "--host", ports.HOST, "--port", str(port),
        "--storage", str(state / "fakepay.sqlite3"),
        "--webhook", f"http://{ports.HOST}:{web_port}/hooks/fakepay/",
        *(part for fault in seed.faults() for part in ("--always", fault)),
    )  # fmt: skip
    return [Child(name="fakepay", command=command, stage=PROVIDER)]

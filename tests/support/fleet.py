"""Workers and signs of life, made straight from their rows."""

from __future__ import annotations

from typing import Any

from runs.models import Pulse, Worker


def worker(name: str = "worker@alpha", **fields: Any) -> Worker:
    """A worker that lives and takes runs, two at a time."""
    usual: dict[str, Any] = {
        "hostname": "alpha",
        "pid": 1,
        "agents": {"refund_desk": "1.0"},
        "slots": 2,
    }
    return Worker.objects.create(name=name, **usual | fields)


def well() -> None:
    """All that must run by itself does: a worker, beat and the sweeper."""
    worker()
    for name in ("beat", "sweeper"):
        Pulse.objects.create(name=name, note={"rang": 0, "did": 0, "failed": []})

"""What a process reads once and keeps: the layers above, the agents' declarations, their graphs."""

from __future__ import annotations

from runs import graphs, ports, registry


def forget() -> None:
    """Read them anew at the next use, from the settings as they are then."""
    for cached in (ports.approvals, ports.ledger, ports.masks, registry.declarations, graphs.load):
        cached.cache_clear()

"""Keeping the shapes of graphs: one for each version of an agent. In workers, which load them."""

from __future__ import annotations

import logging
from typing import Any

from django.db.models.functions import Now

from runs import graphs, registry
from runs.models import Picture
from runs.picture import reading

logger = logging.getLogger(__name__)


def keep() -> int:
    """Store the shape of every agent of this process as it is now; how many. A graph that cannot be
    drawn is left out, and the log says why."""
    return sum(_keep(name) for name in registry.declarations())


def _keep(name: str) -> bool:
    try:
        agent = graphs.load(name)
        shape = reading.of(agent.graph)
    except Exception as exc:  # the graph's own code and annotations are read here
        logger.warning("the graph of agent %s cannot be drawn: %s", name, exc)
        return False
    key: dict[str, Any] = {"agent": name, "version": agent.declared.version}
    known = Picture.objects.filter(**key).first()
    if known is None or known.shape != shape.stored():
        made = {"shape": shape.stored(), "made_at": Now()}
        Picture.objects.update_or_create(**key, defaults=made)
    return True

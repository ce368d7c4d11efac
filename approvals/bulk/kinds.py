"""Identical kinds: what may be approved together because it is the same question many times."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from approvals.models import Request
from approvals.shapes import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Same agent, step, tool and shape, asked under the same policies of the same version."""

    agent: str
    node: str
    tool: str
    shape: str
    version: int
    """Of the policies in force when it was asked."""
    policies: str
    """Those that were found for it, as kept."""

    @property
    def token(self) -> str:
        """Names this kind in addresses and forms."""
        parts = [getattr(self, name) for name in self.__slots__]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """What it asks for, in a few words."""
        return self.tool or Shape(self.shape).label


def of(request: Request, tool: str) -> Kind:
    """The kind of a request, which has its run; `tool` is the one that it names."""
    return Kind(
        agent=request.run.agent,
        node=request.node,
        tool=tool,
        shape=request.shape,
        version=request.policy_version,
        policies=json.dumps(request.policy, sort_keys=True),
    )

"""What the database knows about runs.

1. A run and its lease are made in one transaction, before the graph is first invoked.
2. `wakes` rises in every transaction that may change the next move; a run at rest has
   `wakes == seen_wakes`. Nothing else says that there is work to do.
3. A lease's `fence` only rises. Every write of a driver is checked against it.
4. An attempt is one holding of the lease; at most one is open per run.
"""

from __future__ import annotations

from runs.models.operations import Operation, OperationItem
from runs.models.pictures import Picture
from runs.models.runs import (
    Attempt,
    Erasure,
    Intervention,
    Lease,
    Pulse,
    Run,
    Worker,
    new_id,
)
from runs.models.sought import RunSought

__all__ = [
    "Attempt",
    "Erasure",
    "Intervention",
    "Lease",
    "Operation",
    "OperationItem",
    "Picture",
    "Pulse",
    "Run",
    "RunSought",
    "Worker",
    "new_id",
]

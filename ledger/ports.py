"""What the ledger needs to know from the layer above it, without importing it.

The implementation is named in settings (LEDGER_PERMITS) and verified by a system check.
"""

from __future__ import annotations

from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string


class Permits(Protocol):
    """Where permissions for single effects come from."""

    def find(self, run_id: UUID, tool: str, args_hash: str) -> UUID | None:
        """The id of a decision that approved exactly this call and that no effect has used.

        Called inside the transaction that reserves the effect, with the run locked. `args_hash` is
        `audit.canonical.digest` of the arguments by name, defaults included.
        """


def permits() -> Permits:
    # The system check in ledger.checks has verified that the class has the protocol's method.
    return cast(Permits, import_string(settings.LEDGER_PERMITS)())

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


class Secrets(Protocol):
    """Where arguments that are passed by reference have their values (LEDGER_SECRETS)."""

    def get(self, tool: str, name: str) -> str:
        """The secret of this name, for this tool; called in the worker, just before a call.

        Raises, if it cannot be had: then nothing is sent, and it is tried again later. Another
        value under the same name makes a repeated call another one for a provider.
        """


def secrets() -> Secrets:
    # The system check in ledger.checks has verified that the class has the protocol's method.
    return cast(Secrets, import_string(settings.LEDGER_SECRETS)())


def permits() -> Permits:
    # The system check in ledger.checks has verified that the class has the protocol's method.
    return cast(Permits, import_string(settings.LEDGER_PERMITS)())

"""What a list of effects is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from ledger.browse.conditions import Condition


class Role(StrEnum):
    """What a person has to do with an effect."""

    ANY = ""
    STARTED = "started"
    ALLOWED = "allowed"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """An empty field asks for nothing."""

    status: str = ""
    tool: str = ""
    agent: str = ""
    run_id: UUID | None = None
    settled_by_hand: bool = False
    incident: bool = False
    person: str = ""
    """The whole name or the e-mail address."""
    role: Role = Role.ANY
    conditions: tuple[Condition, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    """Not included. Both are about when the effect was reserved."""
    key: str = ""
    """The idempotency key, or the key that the provider got."""
    reference: str = ""
    text: str = ""
    """Words: each has to be a whole value of the arguments or of the run's input, or a word of the
    run's title. Or all of it: part of the tool's name, the beginning of the provider's reference,
    an id or a key."""
    in_arguments: bool = False
    """`text` may be part of an argument, too. Only for who may see what is hidden."""

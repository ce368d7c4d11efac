"""Writing the audit log.

1. An entry of something that happened is a plain insert in the transaction that makes it happen:
   both are there or neither is.
2. An entry of something refused is written after that transaction, in its own: it stays although
   the attempt left nothing else behind.
3. The time is the database's, the digest is taken here, the chain is made later (`audit.seal`).
"""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from django.db import transaction

from audit import canonical
from audit.errors import UnknownVerb
from audit.models import Entry
from audit.verbs import VERBS

LONGEST_ID = 600
"""Characters of an id that are kept: what an index of PostgreSQL can hold."""


class Actor(Protocol):
    """Who acts, and through which entry point."""

    @property
    def kind(self) -> str:
        """user, system, worker, …"""

    @property
    def user_id(self) -> object | None:
        """The account, or None."""

    @property
    def label(self) -> str:
        """A name that can be read when the account is long gone."""

    @property
    def entry(self) -> str:
        """page, bulk, command, api or worker."""


def record(  # noqa: PLR0913  # an entry has that many sides
    verb: str,
    *,
    actor: Actor,
    target: tuple[str, str],
    run_id: UUID | None = None,
    allowed: bool = True,
    reason: str = "",
    data: object = None,
) -> Entry:
    """Add one entry in the caller's transaction and return it, with its id and time.

    `target` is (kind, id). `data` may be anything: it is stored as `canonical.visible` shows it.
    Raises UnknownVerb.
    """
    if verb not in VERBS:
        raise UnknownVerb(verb)
    kind, identity = target
    entry = Entry(
        verb=verb,
        actor_kind=_text(actor.kind),
        actor_id="" if actor.user_id is None else stored_id(actor.user_id),
        actor_label=_text(actor.label),
        entry=_text(actor.entry),
        target_kind=_text(kind),
        target_id=stored_id(identity),
        run_id=run_id and UUID(str(run_id)),  # the digest wants its one usual text
        allowed=bool(allowed),
        reason=_text(reason),
        data={} if data is None else canonical.visible(data),
    )
    entry.digest = canonical.digest(entry.content)
    entry.save(force_insert=True)
    return entry


def record_refused(  # noqa: PLR0913  # an entry has that many sides
    verb: str,
    *,
    actor: Actor,
    target: tuple[str, str],
    reason: str,
    run_id: UUID | None = None,
    data: object = None,
) -> Entry:
    """Add an entry of an attempt that was refused, and commit it. Call it outside of transactions:

        try:
            with transaction.atomic():
                ...
                raise errors.NotYours
        except errors.NotYours as refusal:
            trail.record_refused("decision.refused", actor=actor, target=..., reason=str(refusal))
            raise

    Raises RuntimeError inside an atomic block, which would take the entry along when it rolls back.
    """
    with transaction.atomic(durable=True):
        return record(
            verb,
            actor=actor,
            target=target,
            run_id=run_id,
            allowed=False,
            reason=reason,
            data=data,
        )


def stored_id(value: object) -> str:
    """`value` as the log keeps ids."""
    return _text(value)[:LONGEST_ID]


def _text(value: object) -> str:
    return canonical.text(value if isinstance(value, str) else str(value))

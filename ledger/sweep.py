"""The ledger's rule of the sweeper: calls whose end nobody will report.

1. It never calls and never asks: that needs the agent's code, which this process does not have. It
   only says that nobody knows.
2. Whatever it marks, it has locked and looked at again. Two sweepers do no harm.
"""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext_noop as noop

from accounts.actors import Actor
from ledger import facts, status
from ledger.models import Effect
from runs import statements
from runs.models import Run

logger = logging.getLogger(__name__)

MOST = 200
"""Effects in one pass."""
WHY = noop("A call was started, and its worker was lost before it could say how it ended.")


def sweep() -> int:
    """One pass: put in doubt what nobody will report; how many effects were changed."""
    with connection.cursor() as cursor:
        cursor.execute(statements.read("ledger", "find_abandoned"), {"most": MOST})
        found = cursor.fetchall()
    changed = sum(_put_in_doubt(key, run_id) for key, run_id in found)
    if changed:
        logger.warning("%s effects have calls that nobody will report", changed)
    return changed


def _put_in_doubt(key: str, run_id: UUID) -> bool:
    with transaction.atomic():
        runs = Run.objects.select_for_update(no_key=True, skip_locked=True)
        if runs.filter(pk=run_id).first() is None:
            return False
        effects = Effect.objects.select_for_update(no_key=True, skip_locked=True)
        effect = effects.filter(pk=key).first()
        if effect is None or not _abandoned(key):
            return False
        if effect.status == status.Status.PENDING:
            facts.doubt(effect, WHY, actor=Actor.system("sweeper"))
        else:
            for attempt in effect.calls.filter(outcome=status.Outcome.OPEN):
                facts.give_up_on(attempt, WHY)
        return True


def _abandoned(key: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statements.read("ledger", "abandoned"), {"key": key})
        abandoned: bool = cursor.fetchone()[0]
    return abandoned

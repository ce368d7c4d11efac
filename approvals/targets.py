"""Targets: what an action is about, and whether it is still as it was shown to those who approved.

    ask("Refund order 7?", tool=..., args=..., target="Order 7", fingerprint=lambda: state_of(7))

1. The fingerprint is a few facts about the present state of the target, such as its version. They
   are part of the question: people see them, and its digest covers them.
2. When an approval reaches the node, the facts are read again. If they differ, the approval is
   given up, permits nothing, and the question is put again as a new round with the difference.
3. They are compared once for each approval. After that the run's own effects may change the
   target, and the node may run again, without anybody being asked once more.
4. Rejections and expiries permit nothing and stand whatever the target is like.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import connection, transaction

from accounts.actors import ClockTimestamp
from accounts.speech import later
from approvals import errors, requests
from approvals.models import Decision, Request
from approvals.status import Delivery, Verdict
from audit import canonical
from ledger import registry
from runs import authority, leases
from runs.authority import Lease

T = TypeVar("T")
Fingerprint = Mapping[str, object] | Callable[[], Mapping[str, object]]
CHANGED = "what it is about has changed since it was approved"
LONGEST_NAME = 300


def state(
    name: object, fingerprint: Fingerprint | None, tool: str, args: Mapping[str, Any]
) -> dict[str, object] | None:
    """The target as a question carries it: its name, and the facts as they are now.

    Without a fingerprint, the tool's own is taken. None if there is neither that nor a name.
    Raises PayloadNotPlain, and whatever the fingerprint raises.
    """
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise errors.PayloadNotPlain(f"target is a name of up to {LONGEST_NAME} characters.")
    declared = registry.find(tool) if fingerprint is None and tool else None
    facts: object = fingerprint() if callable(fingerprint) else fingerprint
    if declared is not None and declared.fingerprint is not None:
        facts = declared.fingerprint(**args)
    if facts is None:
        return {"name": name, "facts": {}} if name else None
    return {"name": name, "facts": _plain(facts)}


def _plain(facts: object) -> dict[str, object]:
    try:
        plain: object = json.loads(canonical.dumps(facts))
    except canonical.NotCanonical as exc:
        raise errors.PayloadNotPlain(f"A fingerprint must be plain JSON. {exc}") from exc
    if not isinstance(plain, dict) or canonical.visible(plain) != plain:
        raise errors.PayloadNotPlain(
            later(
                "A fingerprint is a mapping of names to plain JSON values without hidden"
                " characters."
            )
        )
    return plain


def still_good(digest: str, *, before: object, now: object) -> bool:
    """Whether the approval of the question with this digest may be used. Called in the node.

    `before`: the facts that were approved, `now`: those of this moment. If they differ and were
    never found equal before, the approval is given up here, in a fenced transaction.
    Raises LeaseLost.
    """
    held = authority.current()
    if held is None:  # a graph that Signalbox does not drive
        return before == now
    lease = held.lease
    return _off_the_loop(lambda: _settle(lease, digest, before, now))


def _settle(lease: Lease, digest: str, before: object, now: object) -> bool:
    with transaction.atomic():
        leases.lock(lease)
        decision = (
            Decision.objects.select_related("request")
            .filter(request__run=lease.run_id, digest=digest, verdict=Verdict.APPROVED)
            .order_by("-at", "-pk")
            .first()
        )
        if decision is None:
            return before == now
        if decision.delivery == Delivery.NOT_DELIVERED:
            return False
        if decision.target_found_at is not None:
            return True
        if before == now:
            Decision.objects.filter(pk=decision.pk).update(target_found_at=ClockTimestamp())
            return True
        _give_up(decision, before, now)
        return False


def _give_up(decision: Decision, before: object, now: object) -> None:
    Request.objects.filter(pk=decision.request_id).update(outdated=True)
    requests.record(
        "request.target_changed",
        decision.request,
        actor=requests.DRIVER,
        reason=CHANGED,
        data={"decision": decision.pk, "before": before, "now": now},
    )
    with authority.using(None):  # the notices of it are not the node's
        requests.give_up(decision, CHANGED)


def _off_the_loop(work: Callable[[], T]) -> T:
    """Work with the database, from an async node as well: there in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _and_hang_up(work)
    context = contextvars.copy_context()
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(context.run, _and_hang_up, work).result()


def _and_hang_up(work: Callable[[], T]) -> T:
    opened_here = connection.connection is None
    try:
        return work()
    finally:
        if opened_here:
            connection.close()  # threads of a graph end without closing theirs

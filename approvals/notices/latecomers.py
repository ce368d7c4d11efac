"""Latecomers: who may decide a request since somebody put them into a group, or named them.

They hear of what waits for them without waiting for the next reminder: each once for each request.
Whose message is still to be planned is no latecomer, so nobody is told twice of the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from approvals import gates
from approvals.electorate import Electorate
from approvals.models import Notice, Request
from approvals.notices.events import DESTINATION, QUESTIONS, Event, notify
from approvals.policy import Book
from ledger.models import Message
from ledger.status import MessageStatus


def tell(requests: Iterable[Request], electorate: Electorate, book: Book) -> int:
    """Have everybody told who may approve one of these open requests and never heard of it.

    Returns how many messages were asked for; asking for the same once more adds none.
    """
    found = list(requests)
    heard, under_way = _heard(found), _under_way(found)
    late = [
        (request, user_id)
        for request in found
        if request.pk not in under_way
        for user_id in electorate.called(request, gates.of(request, book)) - heard[request.pk]
    ]
    with transaction.atomic():
        for request, user_id in late:
            notify(Event.NEEDS_YOU, request, key=f"late:{user_id}", people=[user_id])
    return len(late)


def _heard(requests: list[Request]) -> dict[UUID, set[int]]:
    """Ids of the people who were told that each of these waits, or will be."""
    heard: dict[UUID, set[int]] = {request.pk: set() for request in requests}
    told = Notice.objects.filter(request__in=list(heard), event__in=[*QUESTIONS])
    for request_id, user_id in told.values_list("request_id", "user_id"):
        heard[request_id].add(user_id)
    return heard


def _under_way(requests: list[Request]) -> set[UUID]:
    """Requests about which something is still to be planned."""
    ids = [str(request.pk) for request in requests]
    waiting = Message.objects.filter(
        destination=DESTINATION, status=MessageStatus.PENDING, payload__request__in=ids
    )
    return {UUID(each) for each in waiting.values_list("payload__request", flat=True)}

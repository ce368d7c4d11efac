"""The outbox: messages that exist with what they tell, and go out at least once."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from ledger import errors, outbox
from ledger.models import Message


def add(**changes: Any) -> UUID:
    given: dict[str, Any] = {"destination": "test", "payload": {"n": 1}, "dedupe": "k"} | changes
    with transaction.atomic():
        return outbox.add(given.pop("destination"), given.pop("payload"), **given)


def test_a_message_exists_only_if_what_it_tells_was_committed():
    with transaction.atomic():
        outbox.add("test", {}, dedupe="k")
        transaction.set_rollback(True)
    assert not Message.objects.exists()


def test_outside_of_a_transaction_nothing_is_added():
    with pytest.raises(transaction.TransactionManagementError):
        outbox.add("test", {}, dedupe="k")
    assert not Message.objects.exists()


def test_one_key_is_one_message_however_often_it_is_added():
    first = add(payload={"n": 1})
    assert add(payload={"n": 2}) == first
    assert add(destination="other") != first
    assert Message.objects.get(uid=first).payload == {"n": 1}


@pytest.mark.parametrize(
    "changes",
    [
        {"payload": {"n": float("nan")}},
        {"payload": {"text": "a\x00b"}},
        {"payload": object()},
        {"dedupe": ""},
        {"destination": ""},
        {"dedupe": "k" * 401},
        {"order_key": "o" * 201},
    ],
)
def test_what_cannot_be_kept_is_refused(changes):
    with pytest.raises(errors.BadMessage):
        add(**changes)
    assert not Message.objects.exists()

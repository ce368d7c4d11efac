"""Noting that somebody who may decide a request was shown its page."""

from __future__ import annotations

from accounts.models import User
from approvals.details import Detail
from approvals.models import Opening
from approvals.status import Status


def note(detail: Detail, user: User) -> None:
    """The first time counts; whatever comes later changes nothing."""
    if detail.request.status == Status.PENDING and detail.may_decide:
        opening = Opening(request_id=detail.request.pk, user=user)
        Opening.objects.bulk_create([opening], ignore_conflicts=True)

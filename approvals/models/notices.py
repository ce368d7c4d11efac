"""Notices: what people are told by mail, and how they want to be told."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.speech import later as _
from approvals.models.requests import Request


class NoticeChoice(models.Model):
    """What one person wants to be told by mail, and when. Who has none is told everything."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="notice_choice",
    )
    muted = ArrayField(models.CharField(max_length=20), default=list)
    """Events of which this person is told nothing: see `approvals.notices.Event`."""
    gather = models.IntegerField(default=1)
    """Minutes within which everything goes into one mail."""
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_to = models.TimeField(null=True, blank=True)
    """Times of day in the person's zone."""
    urgent_comes_through = models.BooleanField(default=True)
    """Also in quiet hours, if the deadline would pass before they end."""

    class Meta:
        default_permissions = ()
        constraints = (
            models.CheckConstraint(
                name="approvals_noticechoice_quiet_has_both_ends",
                condition=Q(quiet_from__isnull=True, quiet_to__isnull=True)
                | (
                    Q(quiet_from__isnull=False, quiet_to__isnull=False)
                    & ~Q(quiet_from=models.F("quiet_to"))
                ),
            ),
        )

    def __str__(self) -> str:
        return f"what {self.user_id} is told"


class Notice(models.Model):
    """One thing that one person is told by mail, once."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        SENT = "sent", _("Sent")
        DROPPED = "dropped", _("Not worth telling any more")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices"
    )
    event = models.CharField(max_length=20)
    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="notices")
    key = models.CharField(max_length=64)
    """Of the message that it was planned for."""
    due_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    message = models.UUIDField(null=True, blank=True)
    """The mail that carries it; none while the mail can still take more."""
    at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=("user", "request", "event", "key"), name="approvals_notice_once"
            ),
        )
        indexes = (
            models.Index(
                fields=("user", "due_at"),
                name="approvals_notice_waiting",
                condition=Q(status="waiting"),
            ),
            models.Index(fields=("request", "event"), name="approvals_notice_of_request"),
            models.Index(
                fields=("closed_at",),
                name="approvals_notice_closed",
                condition=Q(closed_at__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.event} for {self.user_id}"

    @property
    def says(self) -> str:
        """The event in two words."""
        return self.event.replace("_", " ").capitalize()

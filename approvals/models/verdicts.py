"""Votes, each one person's word, and decisions, the one verdict that follows from them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from approvals import status
from approvals.models.requests import Request
from runs.models import new_id


class Vote(models.Model):
    """One person's word on one request, bound to what was shown to that person."""

    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="votes")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="votes"
    )
    verdict = models.CharField(max_length=10, choices=status.Verdict.choices)
    value = models.JSONField(null=True, blank=True)
    """What was chosen for each action, or answered: see `approvals.shapes`."""
    args = models.JSONField(null=True, blank=True)
    """The arguments of a question of ours, where they were changed."""
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="proposals",
    )
    """Who first changed the arguments to what this vote approves; empty if they are unchanged."""
    comment = models.TextField(blank=True, default="")
    reason = models.CharField(max_length=100, blank=True, default="")
    """One of the policy's named reasons to reject."""
    on_behalf_of = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="votes_by_others",
    )
    """For whom this person stood in."""
    digest = models.CharField(max_length=64)
    token = models.CharField(max_length=64)
    """Of the form that was posted: the same token of this user again is the same vote."""
    missing = models.IntegerField()
    """How many more people had to approve after this vote; 0: it decided."""
    already_done = models.BooleanField(default=False)
    """The effect in question had happened before this vote, and the person was told so."""
    authenticated_at = models.DateTimeField(null=True, blank=True)
    entry = models.CharField(max_length=20)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("request", "user"), name="approvals_vote_one_each"),
            models.UniqueConstraint(fields=("user", "token"), name="approvals_vote_token"),
            models.CheckConstraint(
                name="approvals_vote_by_a_person",
                condition=~Q(verdict=status.Verdict.EXPIRED),
            ),
        )
        indexes = (models.Index(fields=("at",), name="approvals_vote_at"),)

    def __str__(self) -> str:
        return f"{self.user_id}: {self.verdict}"


class Decision(models.Model):
    """The one verdict on a request, and how far it has come into the run."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    request = models.OneToOneField(Request, on_delete=models.PROTECT, related_name="decision")
    verdict = models.CharField(max_length=10, choices=status.Verdict.choices)
    value = models.JSONField(null=True, blank=True)
    args = models.JSONField(null=True, blank=True)
    """The arguments of a question of ours, where they were changed."""
    args_hash = models.CharField(max_length=64, blank=True, default="")
    """Of the effect that this permits: that of the request, or of the changed arguments."""
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="edits",
    )
    """Who changed the arguments that were approved."""
    comment = models.TextField(blank=True, default="")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="decisions",
    )
    """Whose word completed the quorum; empty when the deadline decided."""
    decider = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    answer = models.JSONField()
    """Exactly what the interrupted node receives."""
    at = models.DateTimeField(db_default=Now())
    delivery = models.CharField(
        max_length=14, choices=status.Delivery.choices, default=status.Delivery.RECORDED
    )
    delivery_detail = models.CharField(max_length=300, blank=True, default="")
    deliveries = models.IntegerField(default=0)
    """How often it was handed to LangGraph."""
    target_found_at = models.DateTimeField(null=True, blank=True)
    """When the node found what it is about as people were shown it; from then on it counts,
    whatever the run's own effects change."""
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        indexes = (
            models.Index(
                fields=("at",),
                name="approvals_decision_under_way",
                condition=Q(delivery__in=("recorded", "delivering")),
            ),
        )

    def __str__(self) -> str:
        return f"{self.verdict} by {self.decider}"

"""What was done to the outside world.

1. One row per idempotency key; the key is the primary key. Same key, other arguments: a conflict.
2. An attempt is committed as started before the call leaves this process. Whatever happens to the
   process, the row says that a call may have gone out.
3. Reserving is an intention and fenced. Recording what happened is a fact and never refused.
4. No timer frees an effect that is in doubt.
5. A message is a row before anything is sent, and goes out at least once: see `ledger.outbox`.
6. What searches look at (`Effect.agent`, `Sought`, `Number`) is written by triggers, once, with the
   effect: see `ledger.browse`.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from audit.models import ClockTimestamp
from ledger import status
from runs.models import Run, new_id


class Idempotency(models.TextChoices):
    """Who prevents a second performance of a tool's call."""

    PROVIDER = "provider", "The provider deduplicates by key"
    LOOKUP = "lookup", "The provider can be asked whether it happened"
    LEDGER = "ledger", "The ledger is the only guard"


class Effect(models.Model):
    """One thing that changes the outside world, at most once per key."""

    idempotency_key = models.CharField(primary_key=True, max_length=500)
    uid = models.UUIDField(unique=True, default=new_id, editable=False)
    """The id in addresses and logs."""
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="effects")
    agent = models.CharField(max_length=100, default="", editable=False)
    """Of the run; a trigger writes it, so that lists need not look at runs."""
    step = models.CharField(max_length=300)
    """`{node}@{task_id}`, plus the tool call where there is one."""
    tool = models.CharField(max_length=200)
    idempotency = models.CharField(max_length=10, choices=Idempotency.choices)
    args = models.JSONField()
    args_hash = models.CharField(max_length=64)
    redact = models.JSONField(default=list)
    """Names of fields whose values are never stored in clear (`ledger.redaction`)."""
    status = models.CharField(
        max_length=10, choices=status.Status.choices, default=status.Status.PENDING
    )
    provider_ref = models.CharField(max_length=300, blank=True, default="")
    result = models.JSONField(null=True, blank=True)
    result_cut = models.BooleanField(default=False)
    """It happened, but its result was not kept whole; `error` says why."""
    error = models.TextField(blank=True, default="")
    """Why it failed, is in doubt, or why its result was cut."""
    attempts = models.IntegerField(default=0)
    """Calls started so far."""
    provider_key = models.CharField(max_length=520)
    """What the provider gets as its key; `key#2` after a definite refusal."""
    retry_allowed = models.BooleanField(default=False)
    """A person allowed one more attempt; consumed when it is reserved."""
    retry_at = models.DateTimeField(null=True, blank=True)
    """Nothing is called or asked before."""
    permit = models.UUIDField(null=True, blank=True, unique=True)
    """The decision that allowed it, where a permit is needed; one permit, one effect."""
    fence = models.BigIntegerField()
    """Of the driver that reserved it last."""
    reached_fence = models.BigIntegerField(default=0)
    """Of the last driver whose node asked for it, even if it was only told (`ledger.drift`)."""
    settled_by = models.CharField(max_length=200, blank=True, default="")
    settle_reason = models.TextField(blank=True, default="")
    settle_evidence = models.TextField(blank=True, default="")
    """Where others can see for themselves: an address, or a note."""
    settled_at = models.DateTimeField(null=True, blank=True)
    look_at = models.DateTimeField(null=True, blank=True)
    """When the provider is asked about it next (`ledger.reconcile`); NULL: it is not."""
    undo = models.CharField(max_length=200, blank=True, default="")
    """The tool that takes it back (`ledger.undo`); empty: none does."""
    undoes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    """The effect that this one takes back."""
    created_at = models.DateTimeField(db_default=Now())
    first_started_at = models.DateTimeField(null=True, blank=True)
    """Of the first call under the present provider key; the provider's window counts from here."""
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "effects"
        default_permissions = ("view",)
        permissions = (
            ("settle_effect", "Can settle an effect in doubt"),
            ("undo_effect", "Can have effects of an ended run undone"),
            ("export_effect", "Can export the ledger"),
            ("export_unmasked_effect", "Can export the ledger without masking"),
        )
        indexes = (
            models.Index(fields=("run", "created_at"), name="effects_by_run"),
            models.Index(fields=("-created_at", "-uid"), name="effects_by_time"),
            models.Index(fields=("status", "-created_at", "-uid"), name="effects_by_state"),
            models.Index(fields=("tool", "-created_at", "-uid"), name="effects_by_tool"),
            models.Index(fields=("agent", "-created_at", "-uid"), name="effects_by_agent"),
            models.Index(
                fields=("settled_by", "-created_at", "-uid"),
                name="effects_by_hand",
                condition=~Q(settled_by=""),
            ),
            models.Index(
                fields=("provider_ref",),
                name="effects_by_reference",
                opclasses=("varchar_pattern_ops",),
                condition=~Q(provider_ref=""),
            ),
            models.Index(
                fields=("run",),
                name="effects_in_doubt",
                condition=Q(status=status.Status.IN_DOUBT),
            ),
            models.Index(
                fields=("run",),
                name="effects_pending",
                condition=Q(status=status.Status.PENDING),
            ),
            models.Index(
                fields=("updated_at", "uid"),
                name="effects_doubt_oldest",
                condition=Q(status=status.Status.IN_DOUBT),
            ),
            models.Index(
                fields=("look_at",),
                name="effects_to_look",
                condition=Q(
                    status__in=(status.Status.SENT, status.Status.IN_DOUBT), look_at__isnull=False
                ),
            ),
        )
        constraints = (
            models.CheckConstraint(
                name="effects_retry_allowed_while_pending",
                condition=Q(retry_allowed=False) | Q(status=status.Status.PENDING),
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool} {self.uid}"

    @property
    def left_alone(self) -> bool:
        """Nothing goes on with it by itself: its run has ended, and it takes back no other one."""
        return self.run.ended and self.undoes_id is None


class EffectAttempt(models.Model):
    """One call (or what a look-up said about it)."""

    effect = models.ForeignKey(
        Effect, on_delete=models.PROTECT, related_name="calls", db_column="idempotency_key"
    )
    number = models.IntegerField()
    provider_key = models.CharField(max_length=520)
    fence = models.BigIntegerField()
    holder = models.CharField(max_length=200)
    token = models.UUIDField(default=uuid.uuid4, unique=True)
    """Guards the facts of this attempt: only who started it knows it."""
    started_at = models.DateTimeField(db_default=Now())
    timeout_at = models.DateTimeField()
    """The call has ended by then, one way or another, unless its process is frozen."""
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(
        max_length=10, choices=status.Outcome.choices, default=status.Outcome.OPEN
    )
    http_status = models.IntegerField(null=True, blank=True)
    replayed = models.BooleanField(default=False)
    """The provider said that this answer repeats an earlier one under the same key."""
    provider_ref = models.CharField(max_length=300, blank=True, default="")
    response = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True, default="")

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("effect", "number"), name="ledger_attempt_number"),
            models.UniqueConstraint(
                fields=("effect",),
                condition=Q(outcome=status.Outcome.OPEN),
                name="ledger_attempt_one_open",
            ),
            models.CheckConstraint(
                name="ledger_attempt_open_or_ended",
                condition=Q(outcome=status.Outcome.OPEN, ended_at__isnull=True)
                | (~Q(outcome=status.Outcome.OPEN) & Q(ended_at__isnull=False)),
            ),
        )
        indexes = (
            models.Index(
                fields=("started_at",),
                name="ledger_attempt_open",
                condition=Q(outcome=status.Outcome.OPEN),
            ),
            models.Index(fields=("provider_key",), name="ledger_attempt_by_key"),
            models.Index(
                fields=("provider_ref",),
                name="ledger_attempt_by_reference",
                condition=~Q(provider_ref=""),
            ),
        )

    def __str__(self) -> str:
        return f"{self.effect_id} call {self.number}"


class Sought(models.Model):
    """By which whole words an effect is found. Written by triggers only."""

    effect = models.OneToOneField(
        Effect,
        primary_key=True,
        to_field="uid",
        on_delete=models.CASCADE,
        related_name="sought",
        db_constraint=False,
    )
    words = ArrayField(models.TextField())
    """In lower case: every text and number in the arguments and in the run's input as a whole, and
    the words of the run's title."""

    class Meta:
        default_permissions = ()
        indexes = (GinIndex(fields=("words",), name="ledger_sought_words"),)

    def __str__(self) -> str:
        return f"{self.effect_id}"


class Number(models.Model):
    """One number in the arguments of an effect, to be compared. Written by triggers only."""

    pk = models.CompositePrimaryKey("path", "value", "effect_id")
    path = models.CharField(max_length=200)
    """Names joined by dots; places in lists are left out."""
    value = models.DecimalField(max_digits=27, decimal_places=15)
    effect = models.ForeignKey(
        Effect,
        to_field="uid",
        on_delete=models.CASCADE,
        related_name="numbers",
        db_constraint=False,
        db_index=False,
    )

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.path} {self.value}"


class Look(models.Model):
    """One time the provider was asked whether an effect had happened, and what it said."""

    effect = models.ForeignKey(
        Effect, on_delete=models.PROTECT, related_name="looks", db_column="idempotency_key"
    )
    provider_key = models.CharField(max_length=520)
    attempt = models.IntegerField()
    """Number of the last attempt at that time."""
    answer = models.CharField(max_length=10, choices=status.Answer.choices)
    counts = models.BooleanField()
    """Late enough for a "no" to be believed: nothing can be on its way any more."""
    provider_ref = models.CharField(max_length=300, blank=True, default="")
    error = models.TextField(blank=True, default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=("effect", "at"), name="ledger_look_by_effect"),)

    def __str__(self) -> str:
        return f"{self.effect_id} {self.answer}"


class Incident(models.Model):
    """Something that must not happen did, or may have: a person has to look."""

    class Kind(models.TextChoices):
        DUPLICATE = "duplicate", "A second success for one effect"
        CONFLICT = "conflict", "Same key, other arguments"
        CONTRADICTION = "contradiction", "It happened although that had been ruled out"
        REVERSED = "reversed", "It happened, and the provider has taken it back since"
        UNKNOWN = "unknown", "It happened, and now the provider knows nothing of it"

    kind = models.CharField(max_length=20, choices=Kind.choices)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="incidents")
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="incidents")
    facts = models.JSONField(default=dict)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=("-at", "-id"), name="ledger_incident_newest"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.effect_id}"


class Drift(models.Model):
    """A later attempt of a step asked for another effect than an earlier one (`ledger.drift`)."""

    uid = models.UUIDField(unique=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="drifts")
    step = models.CharField(max_length=300)
    tool = models.CharField(max_length=200)
    before = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="drifts")
    """What the earlier attempt asked for, and the later one did not."""
    fence_before = models.BigIntegerField()
    key = models.CharField(max_length=500)
    """Of the effect that the later attempt asked for; there is one unless it was stopped."""
    args = models.JSONField()
    args_hash = models.CharField(max_length=64)
    fence = models.BigIntegerField()
    stopped = models.BooleanField()
    """The effect was not started; the run waits until somebody accepts it."""
    at = models.DateTimeField(db_default=ClockTimestamp())
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    """The same attempt asked for the earlier effect after all."""
    accepted_by = models.CharField(max_length=200, blank=True, default="")
    accept_reason = models.TextField(blank=True, default="")
    accepted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        indexes = (
            models.Index(fields=("run", "at"), name="ledger_drift_by_run"),
            models.Index(
                fields=("run",),
                name="ledger_drift_undecided",
                condition=Q(stopped=True, withdrawn_at=None, accepted_at=None),
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool} {self.uid}"

    @property
    def undecided(self) -> bool:
        """The run waits for somebody."""
        return self.stopped and self.withdrawn_at is None and self.accepted_at is None


class Stop(models.Model):
    """An emergency stop: no effect is started while it is on."""

    class Scope(models.TextChoices):
        EVERYTHING = "everything", "Everything"
        AGENT = "agent", "One agent"
        TOOL = "tool", "One tool"

    scope = models.CharField(max_length=12, choices=Scope.choices)
    name = models.CharField(max_length=200, blank=True, default="")
    reason = models.TextField()
    set_by = models.CharField(max_length=200)
    set_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    set_at = models.DateTimeField(db_default=Now())
    lifted_by = models.CharField(max_length=200, blank=True, default="")
    lifted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=("scope", "name"),
                condition=Q(lifted_at__isnull=True),
                name="ledger_stop_one_on",
            ),
        )

    def __str__(self) -> str:
        return f"{self.scope} {self.name}".strip()


class Toolbox(models.Model):
    """What one worker said of the tools of its agents when it started."""

    worker = models.CharField(max_length=200, primary_key=True)
    """Its name, as in `runs.models.Worker`; the row outlives the worker's."""
    tools = models.JSONField()
    """[{name, kind, ...}, ...]: see `ledger.inventory.known.Known`."""
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.worker


class Message(models.Model):
    """Something to be told to somebody outside, written where it became true and sent later."""

    seq = models.BigAutoField(primary_key=True)
    """The order in which messages of one `order_key` go out."""
    uid = models.UUIDField(unique=True, default=new_id, editable=False)
    """The receiver gets it, and knows a repeat by it."""
    destination = models.CharField(max_length=100)
    payload = models.JSONField()
    dedupe = models.CharField(max_length=400)
    """One message per destination and key, however often it is added."""
    order_key = models.CharField(max_length=200, blank=True, default="")
    """Messages with the same one go out one after another; empty: in any order."""
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.PROTECT, related_name="messages"
    )
    """The run whose agent added it; empty if Signalbox itself did."""
    status = models.CharField(
        max_length=10, choices=status.MessageStatus.choices, default=status.MessageStatus.PENDING
    )
    due_at = models.DateTimeField(db_default=ClockTimestamp())
    """Not sent before."""
    tries = models.IntegerField(default=0)
    """Claims since it was added or queued again."""
    claim = models.UUIDField(null=True, blank=True)
    """Guards what its dispatcher says of it: only who claimed it last may say that it failed."""
    claimed_by = models.CharField(max_length=200, blank=True, default="")
    claimed_until = models.DateTimeField(null=True, blank=True)
    """After that, whoever comes may send it: its dispatcher is taken for dead."""
    error = models.CharField(max_length=500, blank=True, default="")
    """Why it was not sent the last time."""
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    closed_at = models.DateTimeField(null=True, blank=True)
    """When it was sent or given up."""

    class Meta:
        default_permissions = ("view",)
        permissions = (("retry_message", "Can queue a message again that was given up"),)
        constraints = (
            models.UniqueConstraint(
                fields=("destination", "dedupe"), name="ledger_message_once_per_key"
            ),
            models.CheckConstraint(
                name="ledger_message_pending_or_closed",
                condition=Q(status=status.MessageStatus.PENDING, closed_at__isnull=True)
                | (~Q(status=status.MessageStatus.PENDING) & Q(closed_at__isnull=False)),
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at", "seq"),
                name="ledger_message_due",
                condition=Q(status=status.MessageStatus.PENDING),
            ),
            models.Index(
                fields=("destination", "order_key", "seq"),
                name="ledger_message_in_order",
                condition=Q(status=status.MessageStatus.PENDING) & ~Q(order_key=""),
            ),
            models.Index(fields=("status", "-closed_at", "-seq"), name="ledger_message_closed"),
        )

    def __str__(self) -> str:
        return f"{self.destination} {self.uid}"


class Pace(models.Model):
    """A destination of the outbox that is served at a pace, or wants to be left alone."""

    destination = models.CharField(primary_key=True, max_length=100)
    next_at = models.DateTimeField()
    """Nothing is sent there before."""

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.destination


class HookEvent(models.Model):
    """Something that a provider has told by webhook, kept so that a repeat changes nothing."""

    provider = models.CharField(max_length=100)
    event = models.CharField(max_length=200)
    """The provider's id of it."""
    kind = models.CharField(max_length=100)
    """The provider's word for what it tells, such as refund.updated."""
    heard = models.CharField(max_length=10, choices=status.Heard.choices)
    """What it meant for the ledger."""
    meaning = models.CharField(max_length=10, blank=True, default="")
    """How the effect ended, as the provider had it; empty: it says nothing of that."""
    told_at = models.DateTimeField(null=True, blank=True)
    """By the provider's clock."""
    effect = models.ForeignKey(
        Effect,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="hook_events",
        db_column="idempotency_key",
    )
    provider_ref = models.CharField(max_length=300, blank=True, default="")
    digest = models.CharField(max_length=64)
    """SHA-256 of the signed body."""
    times = models.IntegerField(default=1)
    """How often it was delivered."""
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("provider", "event"), name="ledger_hookevent_once"),
        )
        indexes = (
            models.Index(fields=("provider", "-at"), name="ledger_hookevent_newest"),
            models.Index(
                fields=("at",),
                name="ledger_hookevent_unmatched",
                condition=Q(heard=status.Heard.UNMATCHED),
            ),
        )

    def __str__(self) -> str:
        return f"{self.provider} {self.event}"


class HookRefusals(models.Model):
    """How many webhooks in the name of a provider were refused: anybody can send some."""

    provider = models.CharField(max_length=100, primary_key=True)
    count = models.BigIntegerField(default=0)
    why = models.CharField(max_length=300, blank=True, default="")
    """Of the last one."""
    at = models.DateTimeField(db_default=ClockTimestamp())
    told_at = models.DateTimeField(null=True, blank=True)
    """When the audit log was told last."""

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.provider} {self.count}"


class UndoPlan(models.Model):
    """A person had effects of an ended run undone: which ones, why, and how far it has come."""

    uid = models.UUIDField(unique=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="undo_plans")
    effects = models.JSONField()
    """The uids of the effects to take back, in this order."""
    status = models.CharField(
        max_length=10, choices=status.UndoStatus.choices, default=status.UndoStatus.WORKING
    )
    reason = models.TextField()
    asked_by = models.CharField(max_length=200)
    asked_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    due_at = models.DateTimeField(db_default=ClockTimestamp())
    """Nobody goes on with it before."""
    error = models.TextField(blank=True, default="")
    """Why it stopped, or what it waits for."""
    asked_at = models.DateTimeField(db_default=ClockTimestamp())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=("run",),
                condition=Q(status=status.UndoStatus.WORKING),
                name="ledger_undoplan_one_at_work",
            ),
            models.CheckConstraint(
                name="ledger_undoplan_working_or_ended",
                condition=Q(status=status.UndoStatus.WORKING, ended_at__isnull=True)
                | (~Q(status=status.UndoStatus.WORKING) & Q(ended_at__isnull=False)),
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at",),
                name="ledger_undoplan_due",
                condition=Q(status=status.UndoStatus.WORKING),
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} {self.status}"

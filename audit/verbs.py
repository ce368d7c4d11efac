"""What the audit log can say happened. One table; pages, filters and `record` read it.

An app that records something new adds its verb here, in the group of the thing it happened to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """How one verb is shown."""

    label: str
    sentence: str
    tone: str
    icon: str


TONES = ("neutral", "info", "human", "ok", "warn", "bad")


def _verb(label: str, sentence: str, tone: str, icon: str) -> Verb:
    return Verb(label=label, sentence=sentence, tone=tone, icon=icon)


VERBS: Mapping[str, Verb] = MappingProxyType(
    {
        "run.started": _verb("Started", "The run was accepted and queued.", "info", "play"),
        "run.start_refused": _verb("Start refused", "The run was not accepted.", "bad", "slash"),
        "run.waiting": _verb("Waiting", "The run waits for a person.", "human", "person"),
        "run.parked": _verb("Parked", "The run stopped; an operator must look.", "warn", "hand"),
        "run.finished": _verb("Finished", "The run ended with its output.", "ok", "check"),
        "run.failed": _verb("Failed", "The run ended with an error.", "bad", "cross"),
        "run.cancel_asked": _verb("Cancel asked", "The run was asked to end.", "warn", "slash"),
        "run.cancel_refused": _verb("Cancel refused", "The run was not cancelled.", "bad", "slash"),
        "run.cancelled": _verb(
            "Cancelled", "The run ended because it was asked to.", "neutral", "slash"
        ),
        "run.force_resumed": _verb(
            "Force resumed", "The run was sent on although a rule had stopped it.", "warn", "hand"
        ),
        "run.force_resume_refused": _verb(
            "Force resume refused", "The run was not sent on.", "bad", "slash"
        ),
        "run.retried": _verb("Retried", "The run was told to try again now.", "info", "retry"),
        "run.retry_refused": _verb("Retry refused", "The run was not tried again.", "bad", "slash"),
        "run.ask_again": _verb(
            "Asked again",
            "A bad answer was taken back and the question put again.",
            "warn",
            "retry",
        ),
        "run.ask_again_refused": _verb(
            "Ask again refused", "The answer was not taken back.", "bad", "slash"
        ),
        "run.exported": _verb(
            "Exported", "Everything about the run was handed out as a file.", "info", "eye"
        ),
        "run.taken_over": _verb(
            "Taken over",
            "Another worker took the run from one that had gone quiet.",
            "warn",
            "swap",
        ),
        "operation.ordered": _verb(
            "Many ordered", "A person had one thing done to many runs.", "warn", "hand"
        ),
        "operation.refused": _verb("Many refused", "Nothing was done.", "bad", "slash"),
        "operation.stopped": _verb(
            "Many stopped", "The rest of the runs were left as they are.", "neutral", "slash"
        ),
        "operation.done": _verb(
            "Many done", "Each of the runs was dealt with or says why not.", "ok", "check"
        ),
        "retention.applied": _verb(
            "Erased", "What ended runs need no longer was taken away.", "neutral", "slash"
        ),
        "stop.set": _verb("Stop set", "An emergency stop was switched on.", "bad", "hand"),
        "stop.lifted": _verb("Stop lifted", "An emergency stop was switched off.", "ok", "check"),
        "stop.refused": _verb(
            "Stop refused", "The emergency stop was not changed.", "bad", "slash"
        ),
        "request.opened": _verb("Asked", "A group was asked to decide.", "human", "person"),
        "request.superseded": _verb(
            "Superseded",
            "What was asked changed, so votes on it no longer count.",
            "neutral",
            "swap",
        ),
        "request.target_changed": _verb(
            "Target changed",
            "What an approval was about had changed, so it was not used.",
            "warn",
            "swap",
        ),
        "request.withdrawn": _verb(
            "Withdrawn", "The question was taken back unanswered.", "neutral", "slash"
        ),
        "request.expired": _verb("Expired", "Nobody decided in time.", "warn", "hourglass"),
        "request.escalated": _verb("Escalated", "More people were asked.", "warn", "person"),
        "request.reminded": _verb("Reminded", "The deadline comes nearer.", "neutral", "clock"),
        "request.nobody_can_decide": _verb(
            "Nobody can decide",
            "Fewer people may approve than the policies ask for.",
            "warn",
            "triangle",
        ),
        "decision.voted": _verb(
            "Voted", "One person of several gave a verdict.", "human", "person"
        ),
        "decision.made": _verb("Decided", "The question was answered.", "ok", "check"),
        "decision.many": _verb(
            "Decided many", "Several questions were answered with one form.", "ok", "check"
        ),
        "decision.refused": _verb(
            "Decision refused", "A verdict was not accepted.", "bad", "slash"
        ),
        "decision.delivered": _verb(
            "Took effect", "The run has acted on the answer.", "ok", "check"
        ),
        "decision.not_delivered": _verb(
            "Not delivered", "The answer never reached the run.", "warn", "triangle"
        ),
        "effect.sent": _verb("Done", "The provider said that it did it.", "ok", "check"),
        "effect.confirmed": _verb(
            "Confirmed", "The provider said, asked or unasked, that it did it.", "ok", "check"
        ),
        "effect.failed": _verb("Not done", "The provider refused it for good.", "bad", "cross"),
        "effect.in_doubt": _verb(
            "In doubt", "A call was started and nobody heard how it ended.", "warn", "triangle"
        ),
        "effect.settled": _verb("Settled", "A person said how a call ended.", "human", "hand"),
        "effect.settle_refused": _verb(
            "Settling refused", "How the call ended was not changed.", "bad", "slash"
        ),
        "effect.late_success": _verb(
            "Late answer", "A call turned out to have happened after all.", "warn", "check"
        ),
        "effect.late_refusal": _verb(
            "Late refusal", "A call in doubt turned out not to have happened.", "neutral", "slash"
        ),
        "effect.duplicate": _verb(
            "Happened twice", "A second success was reported for one effect.", "bad", "triangle"
        ),
        "effect.conflict": _verb(
            "Conflict", "The key of an effect came back with other arguments.", "bad", "triangle"
        ),
        "effect.drifted": _verb(
            "Changed on retry", "A step ran again and asked for another effect.", "warn", "triangle"
        ),
        "effect.drift_accepted": _verb(
            "Change accepted", "A person let the run do what it asks for now.", "human", "hand"
        ),
        "effect.drift_refused": _verb(
            "Change not accepted", "Nothing was accepted.", "bad", "slash"
        ),
        "effect.refused": _verb("Effect refused", "The ledger sent nothing.", "bad", "slash"),
        "effect.reversed": _verb(
            "Taken back", "The provider has undone what had happened.", "bad", "triangle"
        ),
        "effect.look_asked": _verb(
            "Look asked for", "A person had the provider asked at once.", "human", "search"
        ),
        "effect.look_refused": _verb("Look refused", "The provider was not asked.", "bad", "slash"),
        "undo.ordered": _verb(
            "Undo ordered", "A person had effects of an ended run taken back.", "human", "retry"
        ),
        "undo.refused": _verb("Undo refused", "Nothing was taken back.", "bad", "slash"),
        "undo.done": _verb("Undone", "What was ordered was taken back.", "ok", "retry"),
        "undo.stopped": _verb(
            "Undo stopped", "An effect could not be taken back; the rest was left.", "bad", "cross"
        ),
        "hook.refused": _verb(
            "Webhook refused",
            "Somebody called in a provider's name and did not prove it.",
            "warn",
            "slash",
        ),
        "message.given_up": _verb(
            "Message given up", "A message could not be sent and is kept.", "bad", "cross"
        ),
        "message.retried": _verb(
            "Message retried", "A message given up was queued again.", "info", "retry"
        ),
        "message.retry_refused": _verb(
            "Message retry refused", "The message was not queued again.", "bad", "slash"
        ),
        "person.signed_in": _verb("Signed in", "A person signed in.", "neutral", "person"),
        "person.signed_out": _verb("Signed out", "A person signed out.", "neutral", "person"),
        "person.sign_in_failed": _verb("Sign-in failed", "A sign-in was refused.", "warn", "slash"),
        "person.reauthenticated": _verb(
            "Confirmed identity", "A person proved again who they are.", "neutral", "lock"
        ),
        "person.changed": _verb(
            "Person changed", "An account, its groups or its rights were changed.", "warn", "person"
        ),
        "mishap.reported": _verb(
            "Went wrong", "Somebody said that something approved went wrong.", "bad", "flag"
        ),
        "mishap.withdrawn": _verb(
            "Went wrong: withdrawn", "It had not gone wrong after all.", "neutral", "slash"
        ),
        "mishap.refused": _verb(
            "Went wrong: refused", "What went wrong was not noted.", "bad", "slash"
        ),
        "policy.changed": _verb(
            "Policy changed", "A policy in force is not what it was.", "warn", "lock"
        ),
        "policy.added": _verb("Policy added", "There is one more policy in force.", "warn", "lock"),
        "policy.removed": _verb("Policy removed", "A policy holds no longer.", "warn", "lock"),
        "policy.change_refused": _verb(
            "Policy change refused", "The policies stayed as they were.", "bad", "slash"
        ),
        "delegation.made": _verb(
            "Delegated", "For a time, somebody decides for somebody absent.", "warn", "swap"
        ),
        "delegation.ended": _verb(
            "Delegation ended", "Somebody decides for nobody else any more.", "neutral", "swap"
        ),
        "delegation.refused": _verb("Delegation refused", "Nothing was delegated.", "bad", "slash"),
        "payload.viewed": _verb(
            "Payload viewed",
            "A person looked at values that are hidden otherwise.",
            "neutral",
            "eye",
        ),
        "payload.view_refused": _verb(
            "Payload view refused", "Hidden values stayed hidden.", "bad", "slash"
        ),
        "log.anchored": _verb(
            "Anchored", "The head of this log was signed and written down elsewhere.", "ok", "lock"
        ),
        "log.proved": _verb(
            "Proved", "Nobody has changed this log since it was sealed.", "ok", "check"
        ),
        "log.disproved": _verb(
            "Not proved", "This log is not what it was. See what was found.", "bad", "triangle"
        ),
        "export.made": _verb(
            "Exported", "Records were handed out as a signed file.", "info", "eye"
        ),
        "export.refused": _verb("Export refused", "Nothing was handed out.", "bad", "slash"),
    }
)

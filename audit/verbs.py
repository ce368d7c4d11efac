"""What the audit log can say happened. One table; pages, filters and `record` read it.

An app that records something new adds its verb here, in the group of the thing it happened to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from accounts.speech import later as _


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
        "run.started": _verb(_("Started"), _("The run was accepted and queued."), "info", "play"),
        "run.start_refused": _verb(
            _("Start refused"), _("The run was not accepted."), "bad", "slash"
        ),
        "run.waiting": _verb(_("Waiting"), _("The run waits for a person."), "human", "person"),
        "run.parked": _verb(
            _("Parked"), _("The run stopped; an operator must look."), "warn", "hand"
        ),
        "run.finished": _verb(_("Finished"), _("The run ended with its output."), "ok", "check"),
        "run.failed": _verb(_("Failed"), _("The run ended with an error."), "bad", "cross"),
        "run.cancel_asked": _verb(
            _("Cancel asked"), _("The run was asked to end."), "warn", "slash"
        ),
        "run.cancel_refused": _verb(
            _("Cancel refused"), _("The run was not cancelled."), "bad", "slash"
        ),
        "run.cancelled": _verb(
            _("Cancelled"), _("The run ended because it was asked to."), "neutral", "slash"
        ),
        "run.force_resumed": _verb(
            _("Force resumed"),
            _("The run was sent on although a rule had stopped it."),
            "warn",
            "hand",
        ),
        "run.force_resume_refused": _verb(
            _("Force resume refused"), _("The run was not sent on."), "bad", "slash"
        ),
        "run.retried": _verb(
            _("Retried"), _("The run was told to try again now."), "info", "retry"
        ),
        "run.retry_refused": _verb(
            _("Retry refused"), _("The run was not tried again."), "bad", "slash"
        ),
        "run.ask_again": _verb(
            _("Asked again"),
            _("A bad answer was taken back and the question put again."),
            "warn",
            "retry",
        ),
        "run.ask_again_refused": _verb(
            _("Ask again refused"), _("The answer was not taken back."), "bad", "slash"
        ),
        "run.exported": _verb(
            _("Exported"), _("Everything about the run was handed out as a file."), "info", "eye"
        ),
        "run.taken_over": _verb(
            _("Taken over"),
            _("Another worker took the run from one that had gone quiet."),
            "warn",
            "swap",
        ),
        "operation.ordered": _verb(
            _("Many ordered"), _("A person had one thing done to many runs."), "warn", "hand"
        ),
        "operation.refused": _verb(_("Many refused"), _("Nothing was done."), "bad", "slash"),
        "operation.stopped": _verb(
            _("Many stopped"), _("The rest of the runs were left as they are."), "neutral", "slash"
        ),
        "operation.done": _verb(
            _("Many done"), _("Each of the runs was dealt with or says why not."), "ok", "check"
        ),
        "retention.applied": _verb(
            _("Erased"), _("What ended runs need no longer was taken away."), "neutral", "slash"
        ),
        "stop.set": _verb(_("Stop set"), _("An emergency stop was switched on."), "bad", "hand"),
        "stop.lifted": _verb(
            _("Stop lifted"), _("An emergency stop was switched off."), "ok", "check"
        ),
        "stop.refused": _verb(
            _("Stop refused"), _("The emergency stop was not changed."), "bad", "slash"
        ),
        "request.opened": _verb(_("Asked"), _("A group was asked to decide."), "human", "person"),
        "request.superseded": _verb(
            _("Superseded"),
            _("What was asked changed, so votes on it no longer count."),
            "neutral",
            "swap",
        ),
        "request.target_changed": _verb(
            _("Target changed"),
            _("What an approval was about had changed, so it was not used."),
            "warn",
            "swap",
        ),
        "request.withdrawn": _verb(
            _("Withdrawn"), _("The question was taken back unanswered."), "neutral", "slash"
        ),
        "request.expired": _verb(_("Expired"), _("Nobody decided in time."), "warn", "hourglass"),
        "request.escalated": _verb(_("Escalated"), _("More people were asked."), "warn", "person"),
        "request.reminded": _verb(
            _("Reminded"), _("The deadline comes nearer."), "neutral", "clock"
        ),
        "request.nobody_can_decide": _verb(
            _("Nobody can decide"),
            _("Fewer people may approve than the policies ask for."),
            "warn",
            "triangle",
        ),
        "decision.voted": _verb(
            _("Voted"), _("One person of several gave a verdict."), "human", "person"
        ),
        "decision.made": _verb(_("Decided"), _("The question was answered."), "ok", "check"),
        "decision.many": _verb(
            _("Decided many"), _("Several questions were answered with one form."), "ok", "check"
        ),
        "decision.refused": _verb(
            _("Decision refused"), _("A verdict was not accepted."), "bad", "slash"
        ),
        "decision.delivered": _verb(
            _("Took effect"), _("The run has acted on the answer."), "ok", "check"
        ),
        "decision.not_delivered": _verb(
            _("Not delivered"), _("The answer never reached the run."), "warn", "triangle"
        ),
        "effect.sent": _verb(_("Done"), _("The provider said that it did it."), "ok", "check"),
        "effect.confirmed": _verb(
            _("Confirmed"), _("The provider said, asked or unasked, that it did it."), "ok", "check"
        ),
        "effect.failed": _verb(
            _("Not done"), _("The provider refused it for good."), "bad", "cross"
        ),
        "effect.in_doubt": _verb(
            _("In doubt"),
            _("A call was started and nobody heard how it ended."),
            "warn",
            "triangle",
        ),
        "effect.settled": _verb(
            _("Settled"), _("A person said how a call ended."), "human", "hand"
        ),
        "effect.settle_refused": _verb(
            _("Settling refused"), _("How the call ended was not changed."), "bad", "slash"
        ),
        "effect.late_success": _verb(
            _("Late answer"), _("A call turned out to have happened after all."), "warn", "check"
        ),
        "effect.late_refusal": _verb(
            _("Late refusal"),
            _("A call in doubt turned out not to have happened."),
            "neutral",
            "slash",
        ),
        "effect.duplicate": _verb(
            _("Happened twice"),
            _("A second success was reported for one effect."),
            "bad",
            "triangle",
        ),
        "effect.conflict": _verb(
            _("Conflict"),
            _("The key of an effect came back with other arguments."),
            "bad",
            "triangle",
        ),
        "effect.drifted": _verb(
            _("Changed on retry"),
            _("A step ran again and asked for another effect."),
            "warn",
            "triangle",
        ),
        "effect.drift_accepted": _verb(
            _("Change accepted"),
            _("A person let the run do what it asks for now."),
            "human",
            "hand",
        ),
        "effect.drift_refused": _verb(
            _("Change not accepted"), _("Nothing was accepted."), "bad", "slash"
        ),
        "effect.refused": _verb(_("Effect refused"), _("The ledger sent nothing."), "bad", "slash"),
        "effect.reversed": _verb(
            _("Taken back"), _("The provider has undone what had happened."), "bad", "triangle"
        ),
        "effect.look_asked": _verb(
            _("Look asked for"), _("A person had the provider asked at once."), "human", "search"
        ),
        "effect.look_refused": _verb(
            _("Look refused"), _("The provider was not asked."), "bad", "slash"
        ),
        "undo.ordered": _verb(
            _("Undo ordered"),
            _("A person had effects of an ended run taken back."),
            "human",
            "retry",
        ),
        "undo.refused": _verb(_("Undo refused"), _("Nothing was taken back."), "bad", "slash"),
        "undo.done": _verb(_("Undone"), _("What was ordered was taken back."), "ok", "retry"),
        "undo.stopped": _verb(
            _("Undo stopped"),
            _("An effect could not be taken back; the rest was left."),
            "bad",
            "cross",
        ),
        "hook.refused": _verb(
            _("Webhook refused"),
            _("Somebody called in a provider's name and did not prove it."),
            "warn",
            "slash",
        ),
        "message.given_up": _verb(
            _("Message given up"), _("A message could not be sent and is kept."), "bad", "cross"
        ),
        "message.retried": _verb(
            _("Message retried"), _("A message given up was queued again."), "info", "retry"
        ),
        "message.retry_refused": _verb(
            _("Message retry refused"), _("The message was not queued again."), "bad", "slash"
        ),
        "person.signed_in": _verb(_("Signed in"), _("A person signed in."), "neutral", "person"),
        "person.signed_out": _verb(_("Signed out"), _("A person signed out."), "neutral", "person"),
        "person.signed_out_elsewhere": _verb(
            _("Signed out elsewhere"),
            _("A person ended their sign-ins in all other browsers."),
            "neutral",
            "person",
        ),
        "person.sign_in_failed": _verb(
            _("Sign-in failed"), _("A sign-in was refused."), "warn", "slash"
        ),
        "person.reauthenticated": _verb(
            _("Confirmed identity"), _("A person proved again who they are."), "neutral", "lock"
        ),
        "person.changed": _verb(
            _("Person changed"),
            _("An account, its groups or its rights were changed."),
            "warn",
            "person",
        ),
        "mishap.reported": _verb(
            _("Went wrong"), _("Somebody said that something approved went wrong."), "bad", "flag"
        ),
        "mishap.withdrawn": _verb(
            _("Went wrong: withdrawn"), _("It had not gone wrong after all."), "neutral", "slash"
        ),
        "mishap.refused": _verb(
            _("Went wrong: refused"), _("What went wrong was not noted."), "bad", "slash"
        ),
        "policy.changed": _verb(
            _("Policy changed"), _("A policy in force is not what it was."), "warn", "lock"
        ),
        "policy.added": _verb(
            _("Policy added"), _("There is one more policy in force."), "warn", "lock"
        ),
        "policy.removed": _verb(
            _("Policy removed"), _("A policy holds no longer."), "warn", "lock"
        ),
        "policy.change_refused": _verb(
            _("Policy change refused"), _("The policies stayed as they were."), "bad", "slash"
        ),
        "delegation.made": _verb(
            _("Delegated"), _("For a time, somebody decides for somebody absent."), "warn", "swap"
        ),
        "delegation.ended": _verb(
            _("Delegation ended"),
            _("Somebody decides for nobody else any more."),
            "neutral",
            "swap",
        ),
        "delegation.refused": _verb(
            _("Delegation refused"), _("Nothing was delegated."), "bad", "slash"
        ),
        "payload.viewed": _verb(
            _("Payload viewed"),
            _("A person looked at values that are hidden otherwise."),
            "neutral",
            "eye",
        ),
        "payload.view_refused": _verb(
            _("Payload view refused"), _("Hidden values stayed hidden."), "bad", "slash"
        ),
        "log.anchored": _verb(
            _("Anchored"),
            _("The head of this log was signed and written down elsewhere."),
            "ok",
            "lock",
        ),
        "log.proved": _verb(
            _("Proved"), _("Nobody has changed this log since it was sealed."), "ok", "check"
        ),
        "log.disproved": _verb(
            _("Not proved"),
            _("This log is not what it was. See what was found."),
            "bad",
            "triangle",
        ),
        "export.made": _verb(
            _("Exported"), _("Records were handed out as a signed file."), "info", "eye"
        ),
        "export.refused": _verb(_("Export refused"), _("Nothing was handed out."), "bad", "slash"),
    }
)

"""What the page on which many are decided sends, besides the boxes of its items."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django import forms

from accounts.speech import later as _
from approvals.bulk.acts import Sent
from approvals.bulk.offers import MOST
from approvals.decisions import LONGEST_COMMENT, LONGEST_TOKEN
from approvals.policy import Gate
from approvals.status import Verdict

TICK = _("Tick at least one of them.")


class BulkForm(forms.Form):
    """One verdict for many. Whether it counts is for `decisions.decide` to say, of each."""

    reason = forms.ChoiceField(label=_("Reason"), required=False)
    """One of the policies' named reasons to reject."""
    comment = forms.CharField(
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": _("Write why: it is told to each of these runs, and kept.")},
    )
    kind = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)
    batch = forms.CharField(max_length=LONGEST_TOKEN, widget=forms.HiddenInput)

    def __init__(self, *args: Any, verdict: str, gates: Iterable[Gate], **kwargs: Any) -> None:
        """`gates`: those of the items."""
        super().__init__(*args, **kwargs)
        held = list(gates)
        reasons = _reasons(held) if verdict == Verdict.REJECTED else []
        choice = self.fields["reason"]
        comment = self.fields["comment"]
        if reasons:
            choice.choices = [("", _("Choose one")), *((each, each) for each in reasons)]  # type: ignore[attr-defined]  # of a ChoiceField
            choice.required = True
            choice.error_messages["required"] = _("Choose the reason for the rejections.")
        else:
            del self.fields["reason"]
        comment.label = _("Why they are rejected") if verdict == Verdict.REJECTED else _("Comment")
        comment.required = _needs_comment(verdict, held)
        comment.help_text = _(
            "Each of the runs is told this. Your name and this comment are kept with each decision."
        )


def _needs_comment(verdict: str, gates: Collection[Gate]) -> bool:
    """Approving, where a policy wants one; rejecting, unless a named reason is enough for all."""
    if verdict == Verdict.APPROVED:
        return any(each.comment_required_to_approve for each in gates)
    return not gates or any(
        each.comment_required_to_reject or not each.reject_reasons for each in gates
    )


def _reasons(gates: Collection[Gate]) -> list[str]:
    """The named reasons that all of those know that want one."""
    wanted = [each.reject_reasons for each in gates if each.reject_reasons]
    if not wanted:
        return []
    return [each for each in wanted[0] if all(each in others for others in wanted)]


def ticked(values: Iterable[str]) -> list[Sent]:
    """The items that were sent, each once, up to MOST."""
    read = (Sent.read(value) for value in values)
    found = {each.request_id: each for each in read if each is not None}
    return list(found.values())[:MOST]

"""Trying a payload: which shape it has, which form people get, and what the agent would receive.

For those who build and run agents. Nothing is stored and nobody is asked.
"""

from __future__ import annotations

import fnmatch
import json
from dataclasses import dataclass

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.speech import later as _
from approvals import errors, reply_forms, shapes
from approvals.jsonforms import fields, leaves, schemas
from approvals.reply_forms import ReplyForm
from approvals.review import picked
from approvals.shapes import Asked, Question, Shape
from approvals.status import Verdict
from audit import canonical
from runs import web

SEE = "runs.view_payload"
LONGEST = 50_000
"""Characters of a payload or a schema."""
INTERRUPT = "<interrupt id>"
CODE = {"class": "mono", "autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}


class JsonField(forms.CharField):
    """JSON, as Python has it."""

    def __init__(self, *, rows: int, required: bool, label: str, help_text: str) -> None:
        super().__init__(
            required=required,
            label=label,
            help_text=help_text,
            max_length=LONGEST,
            strip=False,
            widget=forms.Textarea(attrs=CODE | {"rows": rows}),
        )

    def clean(self, value: str) -> object:
        text: str = super().clean(value)
        if not text.strip():
            return None
        try:
            return leaves.read("json", text)
        except leaves.Wrong as wrong:
            raise forms.ValidationError(str(wrong)) from wrong


class TryForm(forms.Form):
    """What an agent would raise."""

    payload = JsonField(
        rows=10,
        required=True,
        label=_("Payload of the interrupt"),
        help_text=_("JSON, as the agent passes it to interrupt()."),
    )
    schema = JsonField(
        rows=6,
        required=False,
        label=_("Response schema"),
        help_text=_("JSON Schema of the answer, if the agent gives one."),
    )
    editable = forms.CharField(
        required=False,
        max_length=500,
        label=_("Arguments that may be changed"),
        help_text=_("Names as in a policy, with commas between them."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def asked(self) -> Asked:
        """The question that a valid form describes."""
        given = self.cleaned_data
        patterns = [each.strip() for each in given["editable"].split(",")]
        return Asked(
            shape=shapes.detect(given["payload"], given["schema"]),
            payload=canonical.visible(given["payload"]),
            digest=shapes.fingerprint(given["payload"]),
            schema=schemas.of(given["schema"]),
            may_change=lambda name: any(fnmatch.fnmatchcase(name, each) for each in patterns),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one payload would be shown."""

    shape: Shape
    question: Question
    approve: str
    """Why it cannot be approved; empty if it can."""
    reject: str


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def try_out(request: HttpRequest) -> HttpResponse:
    """GET: an empty form. POST: what would be shown, and after that what the agent would get."""
    web.reader(request, SEE)
    if request.method != "POST":
        return render(request, "approvals/try.html", {"form": TryForm()})
    form = TryForm(request.POST)
    if not form.is_valid():
        return render(request, "approvals/try.html", {"form": form}, status=422)
    asked = form.asked()
    actions = shapes.actions(asked)
    pressed = "verdict" in request.POST or "choice" in request.POST
    again = pressed or fields.ADD in request.POST
    reply = reply_forms.make(asked.shape, actions, posted=request.POST if again else None)
    context: dict[str, object] = {"form": form, "trial": _trial(asked), "trying": True}
    context |= {"calls": picked.numbered(actions, unmasked=True)}
    context |= picked.words(reply) | {"may_more": True, "comment": request.POST.get("comment", "")}
    status = 200
    if pressed:
        try:
            context["resume"] = _resume(request, asked, reply)
        except errors.BadValue as refusal:
            if not reply.note(refusal):
                context["refusal"] = str(refusal)
        status = 200 if context.get("resume") else 422
    return render(request, "approvals/try.html", context, status=status)


def _trial(asked: Asked) -> Trial:
    return Trial(
        shape=Shape(asked.shape),
        question=shapes.describe(asked.shape, asked.payload),
        approve=shapes.why_not(asked, Verdict.APPROVED),
        reject=shapes.why_not(asked, Verdict.REJECTED),
    )


def _resume(request: HttpRequest, asked: Asked, form: ReplyForm) -> str:
    """What LangGraph would be resumed with; empty if the form is not complete."""
    verdict = request.POST.get("verdict", "")
    given = form.read(request.POST.get("choice") or form.pressed(verdict)) if form.parts else None
    if given is None:
        return ""
    comment = request.POST.get("comment", "")
    reply = shapes.give(asked, given.verdict, value=given.value, args=given.args, comment=comment)
    answer = shapes.answer(reply, comment=comment, by="you")
    # Shown with hidden characters marked; blanks of a deeper indentation would be marked, too.
    return json.dumps({INTERRUPT: answer}, indent=1, ensure_ascii=False)

"""Forms around policies: the dry run, and delegations."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils import timezone

from accounts.backends import PeopleBackend
from accounts.models import User
from accounts.moments import MomentField
from accounts.speech import later as _
from approvals import delegations, eligibility, gates, shapes
from approvals.policies.form import LIKE_CODE
from approvals.policy import Subject
from audit import canonical

LONGEST_JSON = 64 * 1024


class DryRunForm(forms.Form):
    """An action that no agent has asked for."""

    agent = forms.CharField(
        label=_("Agent"),
        max_length=200,
        widget=forms.TextInput(attrs={"list": "agents"} | LIKE_CODE),
    )
    node = forms.CharField(
        label=_("Step"), max_length=200, required=False, widget=forms.TextInput(attrs=LIKE_CODE)
    )
    tool = forms.CharField(
        label=_("Tool"), max_length=200, required=False, widget=forms.TextInput(attrs=LIKE_CODE)
    )
    args = forms.CharField(
        label=_("Arguments, or a whole question"),
        max_length=LONGEST_JSON,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6} | LIKE_CODE),
        help_text=_(
            'JSON, such as {"amount_cents": 60000, "currency": "EUR"}. Where no tool is'
            " named, it is read as the question that the agent asks."
        ),
    )
    requester = forms.EmailField(
        label=_("Started by"),
        required=False,
        help_text=_("The e-mail address of a person, if any."),
    )

    def clean_args(self) -> object:
        text = self.cleaned_data["args"].strip()
        try:
            return canonical.visible(json.loads(text)) if text else None
        except (ValueError, RecursionError) as exc:
            raise forms.ValidationError(_("This is not JSON: {exc}", exc=exc)) from exc

    def clean_requester(self) -> User | None:
        address = self.cleaned_data["requester"]
        if not address:
            return None
        found = User.objects.filter(email=address.strip().lower()).first()
        if found is None:
            raise forms.ValidationError(_("Nobody has this address."))
        return found

    def subjects(self) -> tuple[Subject, ...]:
        """What a valid form asks about."""
        sent = self.cleaned_data
        if sent["tool"] or sent["args"] is None:
            return (
                Subject(
                    agent=sent["agent"],
                    node=sent["node"],
                    tool=sent["tool"],
                    args=sent["args"],
                    payload=sent["args"],
                ),
            )
        shape = shapes.detect(sent["args"])
        return gates.subjects(sent["agent"], sent["node"], shape, sent["args"])


class DelegationForm(forms.Form):
    """Who stands in for whom, and how long."""

    absent = forms.ModelChoiceField(
        label=_("Absent"), queryset=User.objects.none(), empty_label=_("Choose somebody")
    )
    stand_in = forms.ModelChoiceField(
        label=_("Who decides instead"),
        queryset=User.objects.none(),
        empty_label=_("Choose somebody"),
    )
    starts_at = MomentField(label=_("From"))
    ends_at = MomentField(label=_("Until"))
    agents = forms.CharField(
        label=_("For which agents"),
        max_length=2000,
        initial="*",
        widget=forms.TextInput(attrs=LIKE_CODE),
        help_text=_("Patterns, separated by commas. A star alone is for every agent."),
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=delegations.LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept in the audit log, with your name."),
        error_messages={"required": _("A reason is required. Write one and try again.")},
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = _able()
        zone = timezone.get_current_timezone_name()
        self.fields["stand_in"] = _people(self.fields["stand_in"], people.exclude(pk=user.pk))
        if user.has_perm(delegations.FOR_OTHERS):
            self.fields["absent"] = _people(self.fields["absent"], people)
            self.fields["stand_in"] = _people(self.fields["stand_in"], people)
        else:
            del self.fields["absent"]
        for name in ("starts_at", "ends_at"):
            self.fields[name].help_text = _("In {zone}.", zone=zone)

    def clean_agents(self) -> list[str]:
        return [each.strip() for each in self.cleaned_data["agents"].split(",") if each.strip()]


class EndForm(forms.Form):
    """Why a delegation ends before its time."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=delegations.LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept in the audit log, with your name."),
        error_messages={"required": _("A reason is required. Write one and try again.")},
    )


def _able() -> QuerySet[User]:
    """Everybody who may decide. One query, however many there are."""
    found = PeopleBackend().with_perm(eligibility.PERMISSION).order_by("first_name", "email")
    able = [each.pk for each in found if each.may_sign_in]
    return User.objects.filter(pk__in=able).order_by("first_name", "email")


def _people(field: forms.Field, people: Any) -> forms.ModelChoiceField[User]:
    return forms.ModelChoiceField(
        label=field.label, queryset=people, empty_label=_("Choose somebody")
    )

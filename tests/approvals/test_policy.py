"""Policies: found, kept, combined, and refused loudly when they are written wrongly."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core import checks
from django.core.exceptions import ImproperlyConfigured

from approvals import policy
from approvals.policy import Policy
from signalbox import settings as shipped

pytestmark = pytest.mark.django_db

FINE: dict[str, Any] = {"name": "p", "group": "finance"}


def test_the_first_policy_that_matches_agent_and_node_wins(settings):
    settings.APPROVALS_POLICIES = [
        {"name": "pay", "group": "a", "agent": "refund_*", "node": "pay"},
        {"name": "refunds", "group": "b", "agent": "refund_*"},
        {"name": "all", "group": "c"},
    ]
    assert policy.find("refund_desk", "pay").name == "pay"
    assert policy.find("refund_desk", "gate").name == "refunds"
    assert policy.find("REFUND_desk", "pay").name == "all"


def test_without_a_match_the_default_holds(settings):
    settings.APPROVALS_POLICIES = [{"name": "x", "group": "a", "agent": "x"}]
    assert policy.find("y", "n").name == "default"


def test_every_policy_has_a_deadline_an_outcome_and_four_eyes_unless_it_says_otherwise():
    rule = Policy(**FINE)
    assert (rule.deadline, rule.on_deadline) == (timedelta(hours=24), "reject")
    assert (rule.four_eyes, rule.quorum, rule.comment_required_to_reject) == (True, 1, True)


@pytest.mark.parametrize("within", [None, timedelta(minutes=5)])
def test_a_policy_as_of_then_is_read_as_it_was(within):
    rule = Policy(
        **FINE,
        quorum=2,
        four_eyes=False,
        deadline=timedelta(seconds=90, milliseconds=500),
        on_deadline="park",
        reauthenticate_within=within,
        answers={"approve": {"go": True}},
    )
    assert Policy.read(json.loads(json.dumps(rule.stored()))) == rule


def test_a_key_that_was_given_up_since_is_ignored():
    assert Policy.read(Policy(**FINE).stored() | {"old": 1}) == Policy(**FINE)


def test_then_and_now_together_are_the_stricter_of_both():
    then = Policy(
        name="p",
        group="a",
        four_eyes=False,
        quorum=3,
        comment_required_to_reject=False,
        reauthenticate_within=timedelta(minutes=9),
        answers={"approve": 1},
    )
    now = Policy(name="p", group="b", reauthenticate_within=timedelta(minutes=4))
    for gate in (policy.together(then, now), policy.together(now, then)):
        assert gate.groups == {"a", "b"}
        assert (gate.four_eyes, gate.quorum, gate.comment_required_to_reject) == (True, 3, True)
        assert gate.reauthenticate_within == timedelta(minutes=4)
    assert policy.together(then, now).answers == {"approve": 1}
    assert policy.together(then, now).sentence == "3 of a and b, not who started the run"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"qourum": 2}, "unknown key 'qourum', did you mean 'quorum'?"),
        ({"zzz": 2}, "unknown key 'zzz'. Known: name, group"),
        ({"name": ""}, "name must be"),
        ({"group": None}, "group must be"),
        ({"four_eyes": 1}, "four_eyes must be True or False"),
        ({"quorum": 0}, "quorum must be a whole number"),
        ({"quorum": True}, "quorum must be a whole number"),
        ({"quorum": 1.0}, "quorum must be a whole number"),
        ({"deadline": None}, "deadline must be"),
        ({"deadline": 3600}, "deadline must be"),
        ({"deadline": timedelta(milliseconds=999)}, "deadline must be"),
        ({"deadline": timedelta(days=4000)}, "deadline must be"),
        ({"on_deadline": "escalate"}, "on_deadline must be one of reject, cancel, read_only, park"),
        ({"on_deadline": []}, "on_deadline must be one of"),
        ({"reauthenticate_within": 300}, "reauthenticate_within must be"),
        ({"answers": []}, "answers must be a mapping"),
        ({"answers": {"aprove": 1}}, "answers: unknown key 'aprove', did you mean 'approve'?"),
        ({"answers": {"approve": None}}, "answers['approve'] must be JSON"),
        ({"answers": {"approve": {}}}, "answers['approve'] must be JSON"),
        ({"answers": {"approve": {"0" * 32: 1}}}, "answers['approve'] must be JSON"),
        ({"answers": {"approve": float("nan")}}, "answers['approve'] must be JSON"),
        ({"answers": {"approve": "a\x00"}}, "answers['approve'] must be JSON"),
    ],
)
def test_a_policy_written_wrongly_stops_the_start_and_says_what_is_wrong(settings, wrong, said):
    settings.APPROVALS_POLICIES = [FINE | wrong]
    found = [error.msg for error in policy.check()]
    assert len(found) == 1
    assert found[0].startswith("APPROVALS_POLICIES[0]: ")
    assert said in found[0]
    with pytest.raises(ImproperlyConfigured):
        policy.find("any", "node")


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("APPROVALS_DEFAULT", {"name": "d"}, "APPROVALS_DEFAULT: lacks 'group'."),
        ("APPROVALS_DEFAULT", None, "APPROVALS_DEFAULT: must be a mapping."),
        ("APPROVALS_POLICIES", None, "must be a list of policies"),
        ("APPROVALS_POLICIES", FINE, "must be a list of policies"),
        ("APPROVALS_POLICIES", ["p"], "APPROVALS_POLICIES[0]: must be a mapping."),
        ("APPROVALS_POLICIES", [FINE, FINE], "Two approval policies are called 'p'"),
        ("APPROVALS_ROUNDS", 0, "APPROVALS_ROUNDS must be a whole number from 1"),
    ],
)
def test_settings_around_the_policies_are_checked_too(settings, setting, value, said):
    setattr(settings, setting, value)
    assert said in " ".join(error.msg for error in policy.check())


def test_every_command_checks_the_policies():
    registered: list[object] = [*checks.registry.registry.get_checks()]
    assert policy.check in registered


def test_the_settings_as_shipped_are_fine(settings):
    settings.APPROVALS_POLICIES = shipped.APPROVALS_POLICIES
    settings.APPROVALS_DEFAULT = shipped.APPROVALS_DEFAULT
    assert policy.check() == []
    assert policy.find("refund_desk", "gate").group == "finance"
    assert [each.name for each in policy.in_force().policies] == ["refunds", "default"]

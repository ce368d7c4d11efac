"""The shapes of questions: how a payload is recognised, what a person reads, what the agent gets.

Pure functions. Each shape has a file of its own with the functions of `base.Kind`; this module is
what everybody else uses.

1. `ours` is raised by `approvals.ask`. Only it names the effect that an approval permits.
2. `plain` is everything nobody knows: approve and reject mean True and False unless the policy maps
   them to something else.
3. All others get an answer of exactly their own form, or none: a wrong one is stored by LangGraph
   before it is refused, and then it is stuck.
4. A reply decides exactly the actions that were asked, each by a choice that is allowed for it.
5. No answer is None. Whatever is answered is JSON that the database keeps as it is.
"""

from __future__ import annotations

from approvals.shapes import ours
from approvals.shapes.answers import answer, changed, expired
from approvals.shapes.base import (
    INCOMPARABLE,
    LONGEST_TITLE,
    LONGEST_TOOL,
    NOTHING,
    Action,
    Asked,
    Choice,
    Nothing,
    Pick,
    Question,
    Shape,
    fingerprint,
    usable_tool,
)
from approvals.shapes.kinds import (
    Call,
    actions,
    calls,
    describe,
    detect,
    picks_of,
    with_args,
    write,
)
from approvals.shapes.meanings import speaks, why_not
from approvals.shapes.replies import LONGEST_VALUE, Given, give

__all__ = [
    "INCOMPARABLE",
    "LONGEST_TITLE",
    "LONGEST_TOOL",
    "LONGEST_VALUE",
    "MARK",
    "NOTHING",
    "Action",
    "Asked",
    "Call",
    "Choice",
    "Given",
    "Nothing",
    "Pick",
    "Question",
    "Shape",
    "actions",
    "answer",
    "calls",
    "changed",
    "describe",
    "detect",
    "expired",
    "fingerprint",
    "give",
    "is_ours",
    "picks_of",
    "speaks",
    "usable_tool",
    "why_not",
    "with_args",
    "write",
]

MARK = ours.MARK
is_ours = ours.is_one

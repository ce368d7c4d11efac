"""What people were asked and what they decided.

1. A request is one question of one run, as it was shown: payload, digest, policy as of then.
   Unique on (run, interrupt, checkpoint, round); at most one is open per interrupt.
2. A request always has a deadline.
3. A vote is one person's word on one request. A decision is the one verdict; nothing else ever
   becomes an answer.
4. Whoever changes a request, a vote or a decision has locked the run's row first.
5. The decision row is the only durable record of an answer: LangGraph forgets a keyed answer when
   the process dies inside the node. It is delivered again until it has taken effect.
"""

from __future__ import annotations

from approvals.models.claims import Claim
from approvals.models.delegations import Delegation
from approvals.models.firings import Firing
from approvals.models.mishaps import Mishap, Withdrawal
from approvals.models.notices import Notice, NoticeChoice
from approvals.models.openings import Opening
from approvals.models.policies import PolicyVersion
from approvals.models.requests import Request
from approvals.models.verdicts import Decision, Vote

__all__ = [
    "Claim",
    "Decision",
    "Delegation",
    "Firing",
    "Mishap",
    "Notice",
    "NoticeChoice",
    "Opening",
    "PolicyVersion",
    "Request",
    "Vote",
    "Withdrawal",
]

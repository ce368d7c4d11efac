"""After the fact: what went wrong although it was approved, and how approvers decide.

1. An approval that has reached its run can be marked as gone wrong, with a severity and a note. It
   changes nothing about the decision. A mark can be withdrawn with a reason, never deleted.
2. That somebody opened the page of a request they may decide is noted once, when it is shown. It is
   the one thing besides the audit log that looking at a page leaves behind.
3. Statistics are counted from votes, openings and marks as they stand, for auditors. They say how
   people decide, not how well: see the page for how each number is counted.
"""

from __future__ import annotations

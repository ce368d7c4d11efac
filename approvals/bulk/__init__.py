"""Many at once: rejecting or approving several requests with one form.

1. Each request keeps its own decision, digest, token, entry in the audit log and outcome. Nothing
   is decided here: every verdict goes through `decisions.decide`, one transaction each.
2. An item that is stale, expired, forbidden or decided stops nothing. It is told, with its reason.
3. The same form sent again has the same outcome, because each item has its own token.
4. Anything that somebody may decide may be rejected with others. Approved together are only
   requests of one kind whose policies say so and which can be judged at a glance (`glance`).
5. Bounded: so many on a page, and so long for one sending. What was not reached is told, and sent
   again with the same tokens.
"""

from __future__ import annotations

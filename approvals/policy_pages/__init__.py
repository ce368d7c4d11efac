"""The pages of policies: what is in force, how it came about, how it is changed, what it would do.

Who reads everything reads the policies, too. Changing them needs a permission, a reason and a
recent proof of identity; GET shows and POST acts, without a script.
"""

from __future__ import annotations

from approvals.policy_pages.changing import edit, remove
from approvals.policy_pages.reading import history, policies, version
from approvals.policy_pages.trying import try_out

__all__ = ["edit", "history", "policies", "remove", "try_out", "version"]

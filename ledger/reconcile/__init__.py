"""Reconciling: finding out what nobody heard, by asking providers again and again.

`asking` is what a worker does, `answers` what an answer means, `queue` and `pages` what people see
of effects in doubt. Settling by hand is in `ledger.settle`.
"""

from __future__ import annotations

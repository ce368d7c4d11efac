"""Confirmation: a provider says again, asked or unasked, how an effect ended.

`signature` proves who tells, `hooks` says who may, `news` is what they can say, `stripe` reads it
from events in Stripe's form, `inbox` takes one event exactly once, `recording` is what it means for
an effect, `pages` is the address that providers call.
"""

from __future__ import annotations

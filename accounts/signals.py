"""What accounts tell the layers above them."""

from __future__ import annotations

from django.dispatch import Signal

identity_confirmed = Signal()
"""Somebody signed in has proved again who they are. Sent with `user` and `method`."""
signed_out_elsewhere = Signal()
"""Somebody has ended their sign-ins in all browsers but one. Sent with `user` and `ended`, their
number, in the transaction that ends them."""

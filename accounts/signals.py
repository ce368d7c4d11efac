"""What accounts tell the layers above them."""

from __future__ import annotations

from django.dispatch import Signal

identity_confirmed = Signal()
"""Somebody signed in has proved again who they are. Sent with `user` and `method`."""

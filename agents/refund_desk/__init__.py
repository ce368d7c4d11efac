"""Refund desk: loads an order, assesses the claim, asks above a limit, refunds, mails the customer."""

from __future__ import annotations

"""The refund desk: assesses a claim, asks above a limit, refunds, writes to the customer."""

from __future__ import annotations

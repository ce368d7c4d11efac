"""The returns desk: has a carrier collect what a customer sends back, and tells the customer."""

from __future__ import annotations

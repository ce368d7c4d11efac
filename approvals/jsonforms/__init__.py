"""Forms made from JSON Schema: what a person types becomes a value of the right types."""

from __future__ import annotations

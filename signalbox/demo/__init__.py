"""The demo: everything that Signalbox is made of, on one machine, with something to click on."""

from __future__ import annotations

"""How dates are written where a library formats them; our own pages ask `signalbox.words`."""

"""English: as `signalbox.words` writes it."""

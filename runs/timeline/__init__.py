"""The timeline of a run: everything that happened to it on one axis of time, and as a table."""

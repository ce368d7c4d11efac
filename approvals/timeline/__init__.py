"""What the timeline of a run is told about its questions: moments and spans."""

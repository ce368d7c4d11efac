"""What every page of a run shows above its own content: where it stands and what to do about it."""

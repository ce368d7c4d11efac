"""A database full of runs, to try Signalbox under load: `manage.py seed`.

1. A few originals are really driven, one for each way in which a run can stand (`originals`).
2. Each is copied many times, rows and checkpoints alike, by one statement a table (`copies`): other
   ids, other people, other order numbers, other times. What an original did is true of its copies,
   except that hashes of arguments are still those of the original.
3. Audit entries of the copies are written anew, with digests of their own, and sealed
   (`entries`). Their times are made up, and `verify_audit` says so: it is what it is for.

Nothing of it belongs into a database that somebody relies on: it must be empty of runs.
"""

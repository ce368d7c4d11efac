"""A database full of runs, to try Signalbox under load: `manage.py seed`.

1. A few originals are really driven, one for each way in which a run can stand (`originals`).
2. Each is copied many times (`plan` says how often and when, `tables` which tables, `columns` what
   a copy has in each column, `copies` does it): other ids, people, order numbers and times. What an
   original did is true of its copies, except that the values in checkpoints and the hashes of
   arguments are still those of the original.
3. Copies are loaded without indexes and triggers (`loading`); what triggers write is copied, too.
4. Audit entries of the copies are written anew (`scripts`, `entries`), with digests of their own
   and in the order of their times, and sealed: `verify_audit` proves them.

Nothing of it belongs into a database that somebody relies on: it must be empty of runs.
"""

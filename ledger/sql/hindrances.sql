-- What keeps a run of this agent from going on: an effect in doubt, an emergency stop, or drift that
-- nobody has accepted.
-- Raw: three questions in one round trip, which every look of a driver makes.
-- Indexes: effects_in_doubt, ledger_drift_undecided; there are few stops.
SELECT EXISTS (SELECT FROM effects WHERE run_id = %(run_id)s AND status = 'in_doubt') AS in_doubt,
       EXISTS (SELECT FROM ledger_stop
                WHERE lifted_at IS NULL
                  AND (scope = 'everything' OR (scope = 'agent' AND name = %(agent)s))) AS stopped,
       EXISTS (SELECT FROM ledger_drift
                WHERE run_id = %(run_id)s AND stopped
                  AND withdrawn_at IS NULL AND accepted_at IS NULL) AS drifted

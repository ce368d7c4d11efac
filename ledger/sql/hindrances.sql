-- What keeps a run of this agent from going on: an effect in doubt, or an emergency stop.
-- Raw: two questions in one round trip, which every look of a driver makes.
-- Index: effects_in_doubt; there are few stops.
SELECT EXISTS (SELECT FROM effects WHERE run_id = %(run_id)s AND status = 'in_doubt') AS in_doubt,
       EXISTS (SELECT FROM ledger_stop
                WHERE lifted_at IS NULL
                  AND (scope = 'everything' OR (scope = 'agent' AND name = %(agent)s))) AS stopped

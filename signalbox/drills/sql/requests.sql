-- Questions with their decisions (a row for each, should there be several) and votes.
SELECT q.run_id, q.id, q.payload ->> 'question' AS question, q.status, q.digest, q.round, q.deadline,
       d.id AS decision_id, d.verdict, d.digest AS decision_digest, d.answer, d.at AS decided_at,
       d.delivery, d.deliveries, d.delivered_at,
       (SELECT jsonb_agg(jsonb_build_array(v.user_id, v.digest))
          FROM approvals_vote v WHERE v.request_id = q.id) AS votes
  FROM approvals_request q
  LEFT JOIN approvals_decision d ON d.request_id = q.id
 WHERE q.run_id = ANY(%(runs)s::uuid[])
 ORDER BY q.created_at, d.at

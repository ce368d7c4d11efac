-- How people decided in a period: one row per person, one per policy and one for all together.
-- Raw because the ORM knows neither percentiles nor grouping sets.
-- Indexes: approvals_vote_at, approvals_opening_first, the foreign key of approvals_mishap.
SELECT verdict.user_id,
       verdict.policy,
       count(*) AS decisions,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY verdict.waited) AS median,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY verdict.waited) AS slow,
       count(*) FILTER (WHERE verdict.approved) AS approved,
       count(*) FILTER (WHERE verdict.read IS NOT NULL) AS opened,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY verdict.read) AS reading,
       count(*) FILTER (WHERE verdict.bulk) AS many,
       count(*) FILTER (WHERE verdict.wrong) AS wrong
  FROM (
        SELECT vote.user_id,
               coalesce(request.policy ->> 'name', '') AS policy,
               extract(epoch FROM vote.at - request.created_at)::float AS waited,
               extract(epoch FROM vote.at - opening.at)::float AS read,
               vote.verdict = 'approved' AS approved,
               vote.entry = 'bulk' AS bulk,
               vote.verdict = 'approved' AND EXISTS (
                   SELECT 1
                     FROM approvals_mishap mishap
                     LEFT JOIN approvals_withdrawal withdrawal ON withdrawal.mishap_id = mishap.id
                    WHERE mishap.request_id = vote.request_id AND withdrawal.id IS NULL
               ) AS wrong
          FROM approvals_vote vote
          JOIN approvals_request request ON request.id = vote.request_id
          JOIN runs_run run ON run.id = request.run_id
          LEFT JOIN approvals_opening opening
            ON opening.request_id = vote.request_id
           AND opening.user_id = vote.user_id
           AND opening.at <= vote.at
         WHERE vote.at >= clock_timestamp() - %(period)s::interval
           AND (%(policy)s = '' OR request.policy ->> 'name' = %(policy)s)
           AND (%(agent)s = '' OR run.agent = %(agent)s)
           AND (%(person)s::bigint IS NULL OR vote.user_id = %(person)s)
       ) verdict
 GROUP BY GROUPING SETS ((verdict.user_id), (verdict.policy), ())
 ORDER BY count(*) DESC, verdict.user_id, verdict.policy

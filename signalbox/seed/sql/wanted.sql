-- So many copies of an original, begun between `newest` and `oldest` seconds ago, lately more than
-- long ago; few people start and decide most of them. Raw because a statement makes thousands.
WITH people AS (
    SELECT id, first_name || ' ' || last_name AS label, row_number() OVER (ORDER BY id) - 1 AS place
      FROM accounts_user
), drawn AS (
    SELECT n, -round(1000 * (%(newest)s + (%(oldest)s - %(newest)s) * power(random(), 1.5)))::bigint
              AS moved
      FROM generate_series(1, %(count)s) n
)
INSERT INTO seed_wanted
SELECT pg_temp.seed_id(n::text, %(original)s::uuid, moved), %(original)s::uuid,
       moved * interval '1 millisecond', moved, (%(first)s + n)::text,
       s.id, s.label, a.id, a.label, %(ended)s
  FROM drawn
  JOIN people s ON s.place = floor(%(people)s * power((n * 0.754877666) %% 1, 3))
  JOIN people a ON a.place = floor(%(people)s * power((n * 0.569840296) %% 1, 3));

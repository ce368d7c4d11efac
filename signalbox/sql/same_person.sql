-- Of each browser and its person, what changes with whatever decides who asks and what they may:
-- their sign-in, their row, their groups, what these are called and may. No row: they are not signed
-- in any more.
-- The transactions that wrote them are hashed and summed up: their plain numbers could cancel out.
-- Raw because the ORM knows no xmin.   Index: the primary keys, and those of the foreign keys.
SELECT
    browser.session_key,
    browser.user_id,
    concat_ws(
        '.',
        django_session.xmin,
        accounts_user.xmin,
        (
            SELECT coalesce(sum(hashtextextended(concat_ws(' ', theirs.xmin, named.xmin), 0)), 0)
            FROM accounts_user_groups AS theirs
            INNER JOIN auth_group AS named ON named.id = theirs.group_id
            WHERE theirs.user_id = browser.user_id
        ),
        (
            SELECT coalesce(sum(hashtextextended(xmin::text, 0)), 0)
            FROM accounts_user_user_permissions WHERE user_id = browser.user_id
        ),
        (
            SELECT coalesce(sum(hashtextextended(rights.xmin::text, 0)), 0)
            FROM accounts_user_groups AS theirs
            INNER JOIN auth_group_permissions AS rights ON rights.group_id = theirs.group_id
            WHERE theirs.user_id = browser.user_id
        )
    ) AS said
FROM
    unnest(%(sessions)s::text[], %(users)s::bigint[]) AS browser (session_key, user_id)
INNER JOIN django_session ON browser.session_key = django_session.session_key
INNER JOIN accounts_user ON browser.user_id = accounts_user.id
WHERE django_session.expire_date > clock_timestamp()

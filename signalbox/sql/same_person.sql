-- Changes with whatever decides who asks and what they may: their sign-in, their row, their groups and
-- the rights of these. No row: they are not signed in any more.
-- The transactions that wrote them are hashed and summed up: their plain numbers could cancel out.
-- Raw because the ORM knows no xmin.   Index: the primary keys, and those of the foreign keys.
SELECT concat_ws(
    '.',
    django_session.xmin,
    accounts_user.xmin,
    (
        SELECT coalesce(sum(hashtextextended(xmin::text, 0)), 0)
        FROM accounts_user_groups WHERE user_id = %(user)s
    ),
    (
        SELECT coalesce(sum(hashtextextended(xmin::text, 0)), 0)
        FROM accounts_user_user_permissions WHERE user_id = %(user)s
    ),
    (
        SELECT coalesce(sum(hashtextextended(rights.xmin::text, 0)), 0)
        FROM accounts_user_groups AS theirs
        INNER JOIN auth_group_permissions AS rights ON rights.group_id = theirs.group_id
        WHERE theirs.user_id = %(user)s
    )
)
FROM django_session, accounts_user
WHERE django_session.session_key = %(session)s
AND django_session.expire_date > clock_timestamp()
AND accounts_user.id = %(user)s

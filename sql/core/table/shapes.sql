-- name: table/shapes
-- params: source (table), column (name, of a text or an enum)
-- returns: iso bigint (rows whose text looks like a date or time that begins with the year: 2020-03-15, 2020-03),
--   dated bigint (rows whose text looks like another date: 15.3.2020, 3/15/20, 15-Mar-2020, March 15, 2020),
--   coded bigint (rows whose text has digits and neither spaces nor what decimals and times have, as numbers of persons
--   and things), worded bigint (rows whose text is several words, the first and another with a capital, and has no
--   digit, as names of persons)
{% set months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"] %}
{% set letters = "abcdefghijklmnopqrstuvwxyz" %}
SELECT
    CAST(COALESCE(SUM(CASE
        WHEN t.shape LIKE '0000-00' OR t.shape LIKE '0000-00-00%' THEN 1
        ELSE 0
    END), 0) AS BIGINT) AS iso
    , CAST(COALESCE(SUM(
        CASE
            WHEN TRANSLATE(t.shape, '.-', '//') LIKE '0/0/00%' OR TRANSLATE(t.shape, '.-', '//') LIKE '00/0/00%'
                OR TRANSLATE(t.shape, '.-', '//') LIKE '0/00/00%' OR TRANSLATE(t.shape, '.-', '//') LIKE '00/00/00%'
                OR TRANSLATE(t.shape, '.-', '//') LIKE '0000/0/0%' OR TRANSLATE(t.shape, '.-', '//') LIKE '0000/00/0%'
                THEN CASE WHEN t.shape LIKE '0000-00-00%' THEN 0 ELSE 1 END
            WHEN (
                t.form LIKE '0-aaa%-00%' OR t.form LIKE '00-aaa%-00%' OR t.form LIKE '0aaa00%' OR t.form LIKE '00aaa00%'
                OR t.form LIKE 'aaa%-0%-00%'
            ) AND ({% for month in months %}{{ " OR " if not loop.first }}t.small LIKE '%{{ month }}%'{% endfor %})
                THEN 1
            ELSE 0
        END
    ), 0) AS BIGINT) AS dated
    , CAST(COALESCE(SUM(CASE WHEN t.shape LIKE '%0%' AND t.plain = t.shape THEN 1 ELSE 0 END), 0) AS BIGINT) AS coded
    , CAST(COALESCE(SUM(CASE
        WHEN t.capitals LIKE 'A% A%' AND NOT t.capitals LIKE '%0%' THEN 1
        ELSE 0
    END), 0) AS BIGINT) AS worded
FROM (
    SELECT
        TRANSLATE(CAST(s.{{ column | ident }} AS VARCHAR), '0123456789', '0000000000') AS shape
        , TRANSLATE(CAST(s.{{ column | ident }} AS VARCHAR), '{{ letters | upper }}', '{{ letters }}') AS small
        , TRANSLATE(
            CAST(s.{{ column | ident }} AS VARCHAR)
            , '0123456789 ./{{ letters }}{{ letters | upper }}'
            , '0000000000---{{ "a" * 52 }}'
        ) AS form
        , TRANSLATE(
            CAST(s.{{ column | ident }} AS VARCHAR), '0123456789{{ letters | upper }}', '0000000000{{ "A" * 26 }}'
        ) AS capitals
        , TRANSLATE(CAST(s.{{ column | ident }} AS VARCHAR), '0123456789 .,:/+$%', '0000000000') AS plain
    FROM {{ source | table }} AS s
) AS t

-- name: table/spooled
-- params: spool (table), columns (its columns), number (the column of numbers)
-- returns: rows with numbers from :first to before :past
SELECT {% for c in columns %}{{ ", " if not loop.first }}s.{{ c | ident }} AS {{ c | ident }}{% endfor %}

FROM {{ spool | table }} AS s
WHERE s.{{ number | ident }} >= :first AND s.{{ number | ident }} < :past

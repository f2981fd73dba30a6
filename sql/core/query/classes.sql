-- name: query/classes
-- params: kept (table to make), released (table), columns (those that make the classes), rows (name of a column),
--   sums (list of {sql: an aggregate over the table "released", name: of its column}), most (number),
--   arrays (list of {array: a column with arrays, name: of the column with their numbers})
-- returns: nothing. The table has a row for each class: its columns, the number of its
--   rows, its sums, and the numbers of arrays, equal where these are; at most so many rows
CREATE {{ kept | scratch }} AS
SELECT
{% for name in columns %}
    "released".{{ name | ident }} AS {{ name | ident }},
{% endfor %}
    COUNT(*) AS {{ rows | ident }}
{% for one in sums %}
    , {{ one.sql }} AS {{ one.name | ident }}
{% endfor %}
{% for one in arrays %}
    , DENSE_RANK() OVER (ORDER BY "released".{{ one.array | ident }}) AS {{ one.name | ident }}
{% endfor %}
FROM {{ released | table }} AS "released"
GROUP BY
{% for name in columns %}
    {{ ", " if not loop.first }}"released".{{ name | ident }}
{% endfor %}
LIMIT {{ most }}

-- name: table/tie_break
-- params: tied (table to make), work (table), quasi (QI code columns), sensitive (SA code columns)
-- returns: the columns of work, and tie integer: the order in which relaxed methods divide equal rows
-- Rows of equal QI codes alternate between sensitive values, so that both halves of a cut stay diverse.
CREATE {{ tied | scratch }} AS
SELECT
    o.rid AS rid
{% for column in quasi + sensitive %}
    , o.{{ column }} AS {{ column }}
{% endfor %}
    , CAST(ROW_NUMBER() OVER (
        ORDER BY
{% for column in quasi %}
            o.{{ column }},
{% endfor %}
            o.occurrence
{% for column in sensitive %}
            , o.{{ column }}
{% endfor %}
            , o.rid
    ) - 1 AS INTEGER) AS tie
FROM (
    SELECT
        w.rid AS rid
{% for column in quasi + sensitive %}
        , w.{{ column }} AS {{ column }}
{% endfor %}
        , ROW_NUMBER() OVER (
            PARTITION BY {% for column in quasi + sensitive %}{{ ", " if not loop.first }}w.{{ column }}{% endfor %}
            ORDER BY w.rid
        ) AS occurrence
    FROM {{ work | table }} AS w
) AS o

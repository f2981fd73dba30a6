-- name: verify/signs
-- params: signs (table to make), tables (list of {table, token, classes, event (column or
--   none), key}: published tables of one scope; key: events of equal keys are joined, or none)
-- returns: token text, sign bigint: equal for tokens that are the same to a reader of all tables
--   by published quasi cells and numbers of rows: per event (rows without one are one event) the
--   cells in each table with their rows, and how many events of the token are like this
CREATE {{ signs | scratch }} AS
WITH rows_of AS (
{% for one in tables %}
{{ "UNION ALL" if not loop.first }}
    SELECT
        t.{{ one.token | ident }} AS token
        , {{ "%s || t.%s" | format((one.key ~ ":") | literal, one.event | ident) if one.event else "''" }} AS event
        , {{ loop.index }} AS tab
        ,
{% if one.classes %}
            DENSE_RANK() OVER (
                ORDER BY {% for name in one.classes %}{{ ", " if not loop.first }}t.{{ name | ident }}{% endfor %}
            )
{% else %}
            1
{% endif %}
            AS cell
    FROM {{ one.table | table }} AS t
{% endfor %}
), parts AS (
    SELECT r.token AS token, r.event AS event
        , CAST(r.tab AS VARCHAR) || '.' || CAST(r.cell AS VARCHAR) || '.' || CAST(COUNT(*) AS VARCHAR) AS part
    FROM rows_of AS r
    GROUP BY r.token, r.event, r.tab, r.cell
), events AS (
    SELECT
        p.token AS token
        , CASE WHEN p.event = '' THEN '-' ELSE '' END || STRING_AGG(p.part, ',' ORDER BY p.part) AS sign
    FROM parts AS p
    GROUP BY p.token, p.event
), kinds AS (
    SELECT e.token AS token, e.sign || '*' || CAST(COUNT(*) AS VARCHAR) AS sign
    FROM events AS e
    GROUP BY e.token, e.sign
)
SELECT g.token AS token, DENSE_RANK() OVER (ORDER BY g.sign) AS sign
FROM (
    SELECT k.token AS token, STRING_AGG(k.sign, ';' ORDER BY k.sign) AS sign
    FROM kinds AS k
    GROUP BY k.token
) AS g

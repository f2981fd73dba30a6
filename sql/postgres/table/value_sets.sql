-- name: table/value_sets
-- params: sets (table to make), stage (table), columns (list of {alias, as_float, as_text})
-- returns: absent integer (bits: of v1 the highest, 1 where the row is not of that column), v1,
--   v2, .., n bigint: the frequency sets of the columns, which table/values makes one by one
CREATE {{ sets | scratch }} AS
SELECT
    GROUPING({% for column in columns %}{{ ", " if not loop.first }}g.v{{ loop.index }}{% endfor %}) AS absent
{% for column in columns %}
    , g.v{{ loop.index }} AS v{{ loop.index }}
{% endfor %}
    , COUNT(*) AS n
FROM (
    SELECT
{% for column in columns %}
        {{ ", " if not loop.first }}
{% if column.as_float %}
            s.{{ column.alias }} + 0
{% elif column.as_text %}
            CAST(s.{{ column.alias }} AS text) COLLATE "C"
{% else %}
            s.{{ column.alias }}
{% endif %}
            AS v{{ loop.index }}
{% endfor %}
    FROM {{ stage | table }} AS s
) AS g
GROUP BY GROUPING SETS ({% for column in columns %}{{ ", " if not loop.first }}(g.v{{ loop.index }}){% endfor %})

-- name: statistics/verify_noise
-- params: keyed (table, as statistics/verify_rows makes it), keys (table, as
--   statistics/record_keys makes it), cells, noise (tables), columns (list of {levels}), margins
-- returns: failing bigint: cells whose kept key is not the sum of the keys of the staged
--   persons in it modulo 2^32, and cells with another number of keys than one
{% macro set(margin) %}
{% set some = [] %}
{% for c in columns %}
{% set level = margin[loop.index0] %}
{% if level < c.levels %}{{ some.append("x.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}
{% endfor %}
({{ some | join(", ") }})
{% endmacro %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        SUM(x.key) AS keys
{% for c in columns %}
{% set i = loop.index %}
        , CASE
{% for level in range(c.levels) %}
            WHEN x.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }}
{% endfor %}
            ELSE {{ c.levels }}
        END AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}x.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% endfor %}
    FROM (
        SELECT
            MIN(k.key) AS key
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
            , s.v{{ i }}_{{ level }} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        FROM {{ keyed | table }} AS s
        JOIN {{ keys | table }} AS k ON k.person = s.person
        GROUP BY
            s.person
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
            , s.v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
    ) AS x
    GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
) AS g
JOIN {{ cells | table }} AS c ON
{% for column in columns %}
    {{ " AND " if not loop.first }}c.l{{ loop.index }} = g.l{{ loop.index }}
    AND c.k{{ loop.index }} = g.k{{ loop.index }}
{% endfor %}
FULL JOIN {{ noise | table }} AS n ON n.cell = c.cell AND n.key = CAST(MOD(g.keys, 4294967296) AS BIGINT)
WHERE n.cell IS NULL OR c.cell IS NULL

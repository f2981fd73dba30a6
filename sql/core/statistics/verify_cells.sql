-- name: statistics/verify_cells
-- params: stage, cells (tables), columns (list of {alias, levels, paths}), person (alias of the persons' numbers), margins
-- returns: failing bigint: cells of the staged rows that are not in the table with the same rows and persons, and others that are in it
{% macro set(margin) %}{% set some = [] %}{% for c in columns %}{% set level = margin[loop.index0] %}{% if level < c.levels %}{{ some.append("s.v%d_%d" | format(loop.index, level)) or "" }}{% endif %}{% endfor %}({{ some | join(", ") }}){% endmacro %}
SELECT COUNT(*) AS failing
FROM (
    SELECT
        COUNT(*) AS n
        , COUNT(DISTINCT s.person) AS persons
{% for c in columns %}
{% set i = loop.index %}
        , COALESCE({% for level in range(c.levels) %}CASE WHEN s.v{{ i }}_{{ level }} IS NOT NULL THEN {{ level }} END, {% endfor %}{{ c.levels }}) AS l{{ i }}
        , COALESCE({% for level in range(c.levels) %}s.v{{ i }}_{{ level }}, {% endfor %}'*') AS k{{ i }}
{% endfor %}
    FROM (
        SELECT
            t.{{ person }} AS person
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
            , {% if c.paths %}CASE WHEN t.{{ c.alias }} IS NULL THEN 'n' ELSE p{{ i }}.v{{ level }} END{% else %}CASE WHEN t.{{ c.alias }} IS NULL THEN 'n' ELSE 'v' || CAST(t.{{ c.alias }} AS VARCHAR) END{% endif %} AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
        FROM {{ stage | table }} AS t
{% for c in columns if c.paths %}
        LEFT JOIN {{ c.paths | table }} AS p{{ c.place }} ON p{{ c.place }}.value = {{ "CAST(t.%s AS VARCHAR)" | format(c.alias) if c.as_text else "t." ~ c.alias }}
{% endfor %}
    ) AS s
    GROUP BY GROUPING SETS ({% for margin in margins %}{{ ", " if not loop.first }}{{ set(margin) }}{% endfor %})
) AS f
FULL JOIN {{ cells | table }} AS c
    ON {% for column in columns %}{{ " AND " if not loop.first }}c.l{{ loop.index }} = f.l{{ loop.index }} AND c.k{{ loop.index }} = f.k{{ loop.index }}{% endfor %} AND c.n = f.n AND c.persons = f.persons
WHERE f.n IS NULL OR c.n IS NULL

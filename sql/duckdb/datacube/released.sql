{% extends "core/datacube/released.sql" %}
-- DuckDB hashes IS NOT DISTINCT FROM: a join with the few different parts of a column
-- takes a tenth of a sort of all rows by it.
{% block numbered %}
WITH counted AS MATERIALIZED (
{{ self.counted() }}
)
SELECT
{% for c in columns %}
    d{{ loop.index }}.part AS p{{ loop.index }},
{% endfor %}
    {{ each("g") }}g.s AS s
    , g.n AS n
FROM counted AS g
{% for c in columns %}
{% set i = loop.index %}
JOIN (
    SELECT
        u.*
        , ROW_NUMBER() OVER (
            ORDER BY
{% for name in c.names %}
                {{ ", " if not loop.first }}u.v{{ i }}_{{ loop.index }} NULLS FIRST
{% endfor %}
        ) AS part
    FROM (
        SELECT DISTINCT {% for name in c.names %}{{ ", " if not loop.first }}h.v{{ i }}_{{ loop.index }}{% endfor %}
        FROM counted AS h
    ) AS u
) AS d{{ i }} ON
{% for name in c.names %}
    {{ " AND " if not loop.first }}d{{ i }}.v{{ i }}_{{ loop.index }} IS NOT DISTINCT FROM g.v{{ i }}_{{ loop.index }}
{% endfor %}
{% endfor %}
{% endblock %}

-- name: loss/extents
-- params: boxes (table), columns (list of {code, kind, domain, wide (bool: too wide for exact subtraction), nanoseconds})
-- returns: per column extent_<code> (largest hi - lo of a class; timestamps in micro- or nanoseconds; ranks; leaves or values
--   where kind is sized; NULL if no class has one), open_<code> bigint (classes with NULL, an infinity or NaN together with other values)
{% macro between(c, low, high) %}
{% if c.kind == "timestamp" %}
trunc(extract(epoch FROM {{ high }}) * 1000000) - trunc(extract(epoch FROM {{ low }}) * 1000000)
{%- elif c.kind == "float" %}
CAST({{ high }} AS double precision) - CAST({{ low }} AS double precision)
{%- elif c.kind == "date" %}
CAST({{ high }} - {{ low }} AS numeric)
{%- else %}
CAST({{ high }} AS numeric) - CAST({{ low }} AS numeric)
{%- endif %}
{% endmacro %}
SELECT
{% for c in columns %}
    {{ ", " if not loop.first }}MAX(b.extent_{{ c.code }}) AS extent_{{ c.code }}
    , COUNT(*) - COUNT(b.extent_{{ c.code }}) AS open_{{ c.code }}
{% endfor %}
FROM (
    SELECT
{% for c in columns %}
        {{ ", " if not loop.first }}CASE
            WHEN s.null_{{ c.code }} = 'some' THEN NULL
{% if c.kind == "sized" %}
            ELSE CAST(s.size_{{ c.code }} AS BIGINT)
{% else %}
            WHEN s.lo_{{ c.code }} = s.hi_{{ c.code }} THEN 0
{% if c.kind in ("date", "timestamp") %}
            WHEN NOT (isfinite(l{{ c.code }}.value) AND isfinite(h{{ c.code }}.value)) THEN NULL
{% elif c.kind in ("float", "decimal") %}
            WHEN l{{ c.code }}.value IN ('NaN', 'Infinity', '-Infinity') OR h{{ c.code }}.value IN ('NaN', 'Infinity', '-Infinity') THEN NULL
{% endif %}
{% if c.kind == "float" %}
            WHEN h{{ c.code }}.value > CAST(1.79e308 AS double precision) + LEAST(CAST(l{{ c.code }}.value AS double precision), 0) THEN NULL -- no double holds it
{% endif %}
            ELSE {{ between(c, "l" ~ c.code ~ ".value", "h" ~ c.code ~ ".value") if c.kind != "ranked" else "CAST(h" ~ c.code ~ ".ord - l" ~ c.code ~ ".ord AS BIGINT)" }}
{% endif %}
          END AS extent_{{ c.code }}
{% endfor %}
    FROM {{ boxes | table }} AS s
{% for c in columns %}
{% if c.kind != "sized" %}
    JOIN {{ c.domain | table }} AS l{{ c.code }} ON l{{ c.code }}.code = s.lo_{{ c.code }}
    JOIN {{ c.domain | table }} AS h{{ c.code }} ON h{{ c.code }}.code = s.hi_{{ c.code }}
{% endif %}
{% endfor %}
) AS b

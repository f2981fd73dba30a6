-- name: loss/extents
-- params: boxes (table), columns (list of {code, kind, domain, wide (bool: too wide for
--   exact subtraction), nanoseconds})
-- returns: per column extent_<code> (largest hi - lo of a class; timestamps in micro- or
--   nanoseconds; ranks; leaves or values where kind is sized; NULL if no class has one),
--   open_<code> bigint (classes with NULL, an infinity or NaN together with other values)
{% if between is not defined %}
{% macro between(c, low, high) %}
{% if c.kind == "integer" and not c.wide %}
CAST({{ high }} AS HUGEINT) - CAST({{ low }} AS HUGEINT)
{%- elif c.kind == "timestamp" %}
{% set unit = "EPOCH_NS" if c.nanoseconds else "EPOCH_US" %}
CAST({{ unit }}({{ high }}) AS HUGEINT) - CAST({{ unit }}({{ low }}) AS HUGEINT)
{%- elif c.kind == "float" or c.wide %}
CAST({{ high }} AS DOUBLE) - CAST({{ low }} AS DOUBLE)
{%- else %}
{{ high }} - {{ low }}
{%- endif %}
{% endmacro %}
{% endif %}
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
{% block infinite scoped %}
{% if c.kind in ("float", "date", "timestamp") %}
            WHEN NOT (ISFINITE(l{{ c.code }}.value) AND ISFINITE(h{{ c.code }}.value)) THEN NULL
{% endif %}
{% endblock %}
{% if c.kind == "float" %}
            -- no double holds it
            WHEN h{{ c.code }}.value > {% block greatest %}1.79e308{% endblock %}
                + LEAST(CAST(l{{ c.code }}.value AS {{ dialect.double }}), 0) THEN NULL
{% endif %}
            ELSE {{ between(c, "l" ~ c.code ~ ".value", "h" ~ c.code ~ ".value") if c.kind != "ranked"
                else "CAST(h" ~ c.code ~ ".ord - l" ~ c.code ~ ".ord AS BIGINT)" }}
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

-- name: recode/boxes
-- params: boxes (table to make), spans (table), apart (bool: ranges of domains are bound, :range_<code>), columns
--   (list of {code, kind, domain, members, found, nulls, size, range, key, leveled (bool: spans have a level),
--   height, either (bool: a cell is a value or nothing), places (bool: an ordered domain is read in an array, in
--   the order of the codes, which are 0, 1, 2, ..: where that takes a fraction of the time of two joins)})
-- returns: class, n, per column: lo_, hi_ (codes), null_ ('none', 'all', 'some'), ncp_ and lm_ (double, 0..1);
--   size_ of a node or set: its leaves or values, 0 for NULL alone; at_ and key_, if spans have them
-- NCP (Xu et al.): (max - min) / range of the domain for numbers; |u| / |A| for a node or set u of more than one value.
-- LM (Iyengar): the same for numbers, (|u| - 1) / (|A| - 1) for nodes and sets. A class with some NULLs scores 1.
-- A starred class (at_ above the root) scores 1 everywhere; where a cell is a value or nothing, nothing scores 1.
{% macro ord(c, end, joined) %}
{% if c.places %}
(SELECT e.ord_{{ c.code }} FROM line AS e)[s.{{ end }}_{{ c.code }} + 1]
{% else %}
{{ joined }}{{ c.code }}.ord
{% endif %}
{% endmacro %}
CREATE {{ boxes | scratch }} AS
{% if columns | selectattr("places") | list %}
WITH line AS MATERIALIZED (
    SELECT 1 AS one
{% for c in columns if c.places %}
        , (SELECT ARRAY_AGG(d.ord ORDER BY d.code) FROM {{ c.domain | table }} AS d) AS ord_{{ c.code }}
{% endfor %}
)
{% endif %}
SELECT
    s.class AS class
    , s.n AS n
{% for c in columns %}
    , s.lo_{{ c.code }} AS lo_{{ c.code }}
    , s.hi_{{ c.code }} AS hi_{{ c.code }}
{% if c.key != "class" %}
    , s.{{ c.key }} AS {{ c.key }}
{% endif %}
{% if c.leveled %}
    , s.at_{{ c.code }} AS at_{{ c.code }}
{% endif %}
{% if c.nulls %}
    , CASE
        {% if c.leveled %}WHEN s.at_{{ c.code }} >= {{ c.height }} THEN 'some' {% endif %}
        WHEN s.lo_{{ c.code }} > 0 THEN 'none'
        WHEN s.hi_{{ c.code }} = 0 THEN 'all'
        ELSE 'some'
    END AS null_{{ c.code }}
{% else %}
    , 'none' AS null_{{ c.code }}
{% endif %}
{% if c.kind != "ordered" %}
    , COALESCE({{ "m" ~ c.code ~ ".size" if c.kind == "set" else "f" ~ c.code ~ ".leaves" }}, 0) AS size_{{ c.code }}
{% endif %}
{% for measure in ("ncp", "lm") %}
    , CAST(CASE
{% if c.leveled %}
        WHEN s.at_{{ c.code }} > {{ 0 if c.either else c.height }} THEN 1
{% endif %}
        WHEN s.lo_{{ c.code }} = s.hi_{{ c.code }} THEN 0
{% if c.nulls %}
        WHEN s.lo_{{ c.code }} = 0 THEN 1
{% endif %}
{% if c.either %}
        ELSE 1
{% elif c.kind == "ordered" %}
        ELSE
{% if c.range %}
            ({{ ord(c, "hi", "h") }} - {{ ord(c, "lo", "l") }}) /
{% if apart %}
                :range_{{ c.code }}
{% else %}
                {{ c.range }}
{% endif %}
{% else %}
            0
{% endif %}
{% else %}
{% set u = "m" ~ c.code ~ ".size" if c.kind == "set" else "f" ~ c.code ~ ".leaves" %}
{% if measure == "ncp" %}
        ELSE CAST({{ u }} AS DOUBLE) / {{ c.size }}
{% else %}
        ELSE CAST({{ u }} - 1 AS DOUBLE) / {{ c.size - 1 if c.size > 1 else 1 }}
{% endif %}
{% endif %}
      END AS DOUBLE) AS {{ measure }}_{{ c.code }}
{% endfor %}
{% endfor %}
FROM {{ spans | table }} AS s
{% for c in columns %}
{% if c.kind == "ordered" %}
{% if not c.places %}
JOIN {{ c.domain | table }} AS l{{ c.code }} ON l{{ c.code }}.code = s.lo_{{ c.code }}
JOIN {{ c.domain | table }} AS h{{ c.code }} ON h{{ c.code }}.code = s.hi_{{ c.code }}
{% endif %}
{% elif c.kind == "set" %}
LEFT JOIN {{ c.members | table }} AS m{{ c.code }} ON m{{ c.code }}.key = s.{{ c.key }}
{% else %}
LEFT JOIN {{ c.found | table }} AS f{{ c.code }} ON f{{ c.code }}.low = s.lo_{{ c.code }}
    AND f{{ c.code }}.high = s.hi_{{ c.code }}
{% if c.leveled %}
    AND f{{ c.code }}.at = LEAST(s.at_{{ c.code }}, {{ c.height }})
{% endif %}
{% endif %}
{% endfor %}

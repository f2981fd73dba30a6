-- name: noisy/again_by_weight
-- params: coded (table, as noisy/coded makes it), columns (list of {code (alias), size
--   (how many groups)}), measures (list of {alias (of values), middle (twice that of the
--   range: distances from it are summed, doubled; none: values are)}), weight, steps
-- returns: cell, persons, n, and per measure v1.. and s1.., all bigint, by cell: the sums
--   of what noisy/bounded_by_weight makes, written once more with windows in place of joins
{% if quotient is not defined %}
{% macro quotient(x, squares) %}
CASE
    WHEN {{ squares }} <= {{ weight * weight }} THEN {{ x }} * {{ steps }}
    ELSE CASE WHEN {{ x }} < 0 THEN -1 ELSE 1 END * (
        CASE
            WHEN {{ x }} < 0 THEN -CAST({{ x }} AS HUGEINT)
            ELSE CAST({{ x }} AS HUGEINT)
        END * {{ weight * steps * 65536 }} // (1 + CAST(CEIL(65536 * SQRT(CAST({{ squares }} AS DOUBLE))) AS HUGEINT))
    )
END
{% endmacro %}
{% endif %}
WITH rows_of AS (
    SELECT
        k.person AS person
        , 0
{% for c in columns %}
            + CAST(k.{{ c.code }} AS BIGINT){% for d in columns[loop.index:] %} * {{ d.size }}{% endfor %}

{% endfor %}
            AS cell
{% for m in measures %}
        , k.{{ m.alias }} AS x{{ loop.index }}{% endfor %}

    FROM {{ coded | table }} AS k
    WHERE k.person IS NOT NULL{% for c in columns %} AND k.{{ c.code }} >= 0{% endfor %}

)
, cells AS (
    SELECT DISTINCT
        r.person AS person
        , r.cell AS cell
        , CAST(COUNT(*) OVER w AS {{ dialect.wide }}) AS n{% for m in measures %}
        , CAST(COUNT(r.x{{ loop.index }}) OVER w AS {{ dialect.wide }}) AS v{{ loop.index }}
        , CAST(COALESCE(
{% if m.middle is none %}
            SUM(r.x{{ loop.index }}) OVER w
{% else %}
            2 * SUM(r.x{{ loop.index }}) OVER w - ({{ m.middle }}) * COUNT(r.x{{ loop.index }}) OVER w
{% endif %}
            , 0
        ) AS {{ dialect.wide }}) AS s{{ loop.index }}
{% endfor %}
    FROM rows_of AS r
    WINDOW w AS (PARTITION BY r.person, r.cell)
)
, normed AS (
    SELECT c.*, SUM(c.n * c.n) OVER (PARTITION BY c.person) AS squares, COUNT(*) OVER (PARTITION BY c.person) AS many
    FROM cells AS c
)
SELECT
    z.cell AS cell
    , CAST(SUM({{ quotient("1", "z.many") }}) AS BIGINT) AS persons
    , CAST(SUM({{ quotient("z.n", "z.squares") }}) AS BIGINT) AS n
{% for m in measures %}
    , CAST(SUM({{ quotient("z.v" ~ loop.index, "z.squares") }}) AS BIGINT) AS v{{ loop.index }}
    , CAST(SUM({{ quotient("z.s" ~ loop.index, "z.squares") }}) AS BIGINT) AS s{{ loop.index }}
{% endfor %}
FROM normed AS z
GROUP BY z.cell
ORDER BY z.cell

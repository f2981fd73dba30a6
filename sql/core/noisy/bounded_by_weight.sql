-- name: noisy/bounded_by_weight
-- params: bounded (table to make), coded (table, as noisy/coded makes it), columns (list of
--   {code (alias), size (how many groups)}), measures (list of {alias (of values), middle (twice
--   that of the range: distances from it are summed, doubled; none: values are)}), weight, steps
-- returns: person text, cell bigint (the finest group), and in whole parts of steps, rounded towards 0, n (rows), p
--   (the person), and per measure v1.. (numbers of values) and s1.. (sums), all bigint. Where the norm of a
--   person's n is above the weight, n, v and s are divided by so much that it is not; where that of its p is, p is.
--   The root is rounded up by more than the error of a floating-point root, so that no norm is above the weight
{% macro cell() %}
{% for c in columns %}{{ "(" if not loop.last }}{% endfor %}
{% for c in columns %}
{% if loop.first %}
CAST(k.{{ c.code }} AS BIGINT)
{% else %}
* {{ c.size }} + k.{{ c.code }})
{% endif %}
{% endfor %}
{% endmacro %}
{% macro root(squares) %}
CASE
    WHEN {{ squares }}
        > {{ weight * weight }} THEN CAST(
            CEIL(SQRT(CAST({{ squares }} AS {{ dialect.double }})) * 65536) AS {{ dialect.wide }}
        ) + 1
END
{% endmacro %}
{% if weighed is not defined %}
{% macro weighed(x, root) %}
CAST(CASE
    WHEN {{ root }} IS NULL THEN CAST({{ x }} AS HUGEINT) * {{ steps }}
    ELSE SIGN({{ x }}) * (ABS(CAST({{ x }} AS HUGEINT)) * {{ weight * steps * 65536 }} // {{ root }})
END AS BIGINT)
{% endmacro %}
{% endif %}
CREATE {{ bounded | scratch }} AS
WITH counted AS (
    SELECT k.person AS person, {{ cell() }} AS cell, COUNT(*) AS n{% for m in measures %}
        , COUNT(k.{{ m.alias }}) AS v{{ loop.index }}
        , COALESCE(
            SUM({% if m.middle is none %}k.{{ m.alias }}{% else %}2 * k.{{ m.alias }} - ({{ m.middle }}){% endif %}), 0
        ) AS s{{ loop.index }}
{% endfor %}
    FROM {{ coded | table }} AS k
    WHERE k.person IS NOT NULL{% for c in columns %} AND k.{{ c.code }} IS NOT NULL{% endfor %}

    GROUP BY 1, 2
)
, persons AS (
    SELECT c.person AS person, SUM(CAST(c.n AS {{ dialect.wide }}) * c.n) AS squares, COUNT(*) AS cells
    FROM counted AS c
    GROUP BY c.person
)
, roots AS (
    SELECT p.person AS person, {{ root("p.squares") }} AS of_rows, {{ root("p.cells") }} AS of_cells
    FROM persons AS p
)
SELECT
    c.person AS person
    , c.cell AS cell
    , {{ weighed("c.n", "r.of_rows") }} AS n
    , {{ weighed("1", "r.of_cells") }} AS p
{% for m in measures %}
    , {{ weighed("c.v" ~ loop.index, "r.of_rows") }} AS v{{ loop.index }}
    , {{ weighed("c.s" ~ loop.index, "r.of_rows") }} AS s{{ loop.index }}
{% endfor %}
FROM counted AS c
JOIN roots AS r ON r.person = c.person

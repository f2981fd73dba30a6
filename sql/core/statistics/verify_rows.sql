-- name: statistics/verify_rows
-- params: keyed (table to make), stage (table), columns (list of {alias, levels, paths}),
--   person (alias of the persons' numbers), sums (list of {alias, factor, place})
-- returns: person bigint, rid integer, v<column>_<level> text: of each staged row the node
--   of each column at each level, 'v' and its text or label, or 'n' for NULL; s<sum>
--   bigint; for verification alone, which does not read what counting made
CREATE {{ keyed | scratch }} AS
SELECT
    t.{{ person }} AS person
    , t.rid AS rid
{% for own in sums %}
    , CAST(t.{{ own.alias }} * {{ own.factor }} AS BIGINT) AS s{{ own.place }}
{% endfor %}
{% for c in columns %}
{% set i = loop.index %}
{% for level in range(c.levels) %}
    ,
{% if c.paths %}
        CASE WHEN t.{{ c.alias }} IS NULL THEN 'n' ELSE p{{ i }}.v{{ level }} END
{% else %}
        CASE WHEN t.{{ c.alias }} IS NULL THEN 'n' ELSE 'v' || CAST(t.{{ c.alias }} AS VARCHAR) END
{% endif %}
        AS v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
FROM {{ stage | table }} AS t
{% for c in columns if c.paths %}
LEFT JOIN {{ c.paths | table }} AS p{{ c.place }}
    ON p{{ c.place }}.value = {{ "CAST(t.%s AS VARCHAR)" | format(c.alias) if c.as_text else "t." ~ c.alias }}
{% endfor %}

-- name: statistics/published
-- params: published (table to make), physical (the published table), columns (list of {name, level, levels}), measures (list of {name, low,
--   high}), sums (list of {place, name, low_name, high_name, factor}), bounds (bool)
-- returns: of each row the keys k1.. and levels l1.. of its cell, status text, as_of bigint, measures m1.., lower1.. and upper1.. bigint; of sums x1.., least1.. and most1..
--   bigint, in units
CREATE {{ published | scratch }} AS
SELECT
    p.status AS status
    , CAST(p.as_of AS BIGINT) AS as_of
{% for c in columns %}
    , p.{{ c.level | ident }} AS l{{ loop.index }}
    , CASE WHEN p.{{ c.level | ident }} = {{ c.levels }} AND p.{{ c.name | ident }} IS NULL THEN '*' WHEN p.{{ c.name | ident }} IS NULL THEN 'n' ELSE 'v' || CAST(p.{{ c.name | ident }} AS VARCHAR) END AS k{{ loop.index }}
{% endfor %}
{% for m in measures %}
    , p.{{ m.name | ident }} AS m{{ loop.index }}
{% if bounds %}
    , p.{{ m.low | ident }} AS lower{{ loop.index }}
    , p.{{ m.high | ident }} AS upper{{ loop.index }}
{% endif %}
{% endfor %}
{% for s in sums %}
    , CAST(p.{{ s.name | ident }} * {{ s.factor }} AS BIGINT) AS x{{ s.place }}
{% if bounds %}
    , CAST(p.{{ s.low_name | ident }} * {{ s.factor }} AS BIGINT) AS least{{ s.place }}
    , CAST(p.{{ s.high_name | ident }} * {{ s.factor }} AS BIGINT) AS most{{ s.place }}
{% endif %}
{% endfor %}
FROM {{ physical | table }} AS p

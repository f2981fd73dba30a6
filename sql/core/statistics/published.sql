-- name: statistics/published
-- params: published (table to make), physical (the published table), columns (list of {name, level,
--   levels}), measures (list of {name, low, high, tight}), sums (list of {place, name, low_name, high_name,
--   tight_name, factor}), bounds (bool), tight (bool: there are columns that say whether bounds are tight)
-- returns: of each row the keys k1.. and levels l1.. of its cell, status text, as_of
--   bigint, measures m1.., lower1.. and upper1.. bigint; of sums x1.., least1.. and
--   most1.. bigint, in units; tight1.. and sure1.. (of sums) integer, 1 or 0
CREATE {{ published | scratch }} AS
SELECT
    p.status AS status
    , CAST(p.as_of AS BIGINT) AS as_of
{% for c in columns %}
    , p.{{ c.level | ident }} AS l{{ loop.index }}
    , CASE
        WHEN p.{{ c.level | ident }} = {{ c.levels }} AND p.{{ c.name | ident }} IS NULL THEN '*'
        WHEN p.{{ c.name | ident }} IS NULL THEN 'n'
        ELSE 'v' || CAST(p.{{ c.name | ident }} AS VARCHAR)
    END AS k{{ loop.index }}
{% endfor %}
{% for m in measures %}
    , p.{{ m.name | ident }} AS m{{ loop.index }}
{% if bounds %}
    , p.{{ m.low | ident }} AS lower{{ loop.index }}
    , p.{{ m.high | ident }} AS upper{{ loop.index }}
{% endif %}
{% if tight %}
    , CASE WHEN p.{{ m.tight | ident }} THEN 1 WHEN NOT p.{{ m.tight | ident }} THEN 0 END AS tight{{ loop.index }}
{% endif %}
{% endfor %}
{% for s in sums %}
    , CAST(p.{{ s.name | ident }} * {{ s.factor }} AS BIGINT) AS x{{ s.place }}
{% if bounds %}
    , CAST(p.{{ s.low_name | ident }} * {{ s.factor }} AS BIGINT) AS least{{ s.place }}
    , CAST(p.{{ s.high_name | ident }} * {{ s.factor }} AS BIGINT) AS most{{ s.place }}
{% endif %}
{% if tight %}
    , CASE
        WHEN p.{{ s.tight_name | ident }} THEN 1
        WHEN NOT p.{{ s.tight_name | ident }} THEN 0
    END AS sure{{ s.place }}
{% endif %}
{% endfor %}
FROM {{ physical | table }} AS p

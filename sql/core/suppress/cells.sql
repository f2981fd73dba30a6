-- name: suppress/cells
-- params: cells (table to make), work (table), words (list of lists of {code, times}:
--   quasi code columns that make one integer), sensitive (SA code columns)
-- returns: key1.. bigint, the sensitive codes, n bigint: rows of equal quasi and sensitive codes
CREATE {{ cells | scratch }} AS
SELECT
{% for word in words %}
    w.key{{ loop.index }} AS key{{ loop.index }},
{% endfor %}
    {% for s in sensitive %}w.{{ s }} AS {{ s }}, {% endfor %}COUNT(*) AS n
FROM (
    SELECT
{% for s in sensitive %}
        t.{{ s }} AS {{ s }},
{% endfor %}
{% for word in words %}
        {{ ", " if not loop.first }}
{% for c in word %}
            {{ " + " if not loop.first }}CAST(t.{{ c.code }} AS BIGINT) * CAST({{ c.times }} AS BIGINT)
{% endfor %}
            AS key{{ loop.index }}
{% endfor %}
    FROM {{ work | table }} AS t
) AS w
GROUP BY
    {% for word in words %}{{ ", " if not loop.first }}w.key{{ loop.index }}{% endfor %}
{% for s in sensitive %}
    , w.{{ s }}
{% endfor %}
-- name: suppress/whole
-- params: whole (table to make), cells (table), below (tables with the keys of groups that
--   do not meet a requirement, one each), keys (columns)
-- returns: the columns of cells, kept bigint: all rows of groups that meet every requirement
CREATE {{ whole | scratch }} AS
SELECT
    c.*
    , CASE
        WHEN TRUE{% for table in below %} AND b{{ loop.index }}.key1 IS NULL{% endfor %} THEN c.n
        ELSE CAST(0 AS BIGINT)
    END AS kept
FROM {{ cells | table }} AS c
{% for table in below %}
{% set b = "b" ~ loop.index %}
LEFT JOIN {{ table | table }} AS {{ b }} ON
{% for key in keys %}
    {{ " AND " if not loop.first }}{{ b }}.{{ key }} = c.{{ key }}
{% endfor %}
{% endfor %}

-- name: table/tied
-- params: tied (table to make), stage, work, assign (tables), shared (table of rid: all rows of equal codes that are in more than one class; or none: any may be),
--   codes (QI and SA code columns), kept (list of {alias, kind}: the columns that are
--   published as they are), link (alias of each column that it is the hash of, and whether that is a listed text; none: the column link)
-- returns: rid integer, class integer: for every row in a group of equal codes that is divided among classes, the class that it gets. The
--   classes of a group are given in their order to its rows in that of a hash of what makes up a row, keyed with :secret.
-- As in core; a numeric is taken by its text as well, for 1.0 equals 1.00. Rows and classes meet in arrays of each group: of a join by turn PostgreSQL
--   expects one row, and compares each with each.
{% macro seen(c) %}
{% if c.kind in ("other", "decimal") %}CAST(o.{{ c.alias }} AS text){% else %}o.{{ c.alias }}{% endif %}
{% if c.kind == "float" %}, CASE WHEN o.{{ c.alias }} = 0 THEN CAST(o.{{ c.alias }} AS text) END{% endif %}
{% endmacro %}
CREATE {{ tied | scratch }} AS
WITH shared AS (
    SELECT w.rid AS rid, g.first AS first, a.class AS class
        , sha256(convert_to(CAST(:secret AS text) || '/tie/' || CAST(hash_record_extended(ROW({{ link | link_of("o") }}{% for c in kept %}, {{ seen(c) }}{% endfor %}), 0) AS text), 'UTF8')) AS turn_key
    FROM {{ work | table }} AS w
{% if shared %}
    JOIN {{ shared | table }} AS x ON x.rid = w.rid
{% endif %}
    JOIN {{ stage | table }} AS o ON o.rid = w.rid
    JOIN {{ assign | table }} AS a ON a.rid = w.rid
    JOIN (
        SELECT MIN(v.rid) AS first{% for c in codes %}, v.{{ c }} AS {{ c }}{% endfor %}

        FROM {{ work | table }} AS v
{% if shared %}
        JOIN {{ shared | table }} AS y ON y.rid = v.rid
{% endif %}
        JOIN {{ assign | table }} AS b ON b.rid = v.rid
        GROUP BY {% for c in codes %}{{ ", " if not loop.first }}v.{{ c }}{% endfor %}

        HAVING MIN(b.class) < MAX(b.class)
    ) AS g ON {% for c in codes %}{{ " AND " if not loop.first }}g.{{ c }} = w.{{ c }}{% endfor %}

)
SELECT u.rid AS rid, u.class AS class
FROM (
    SELECT ARRAY_AGG(s.rid ORDER BY s.turn_key, s.rid) AS rids, ARRAY_AGG(s.class ORDER BY s.class) AS classes
    FROM shared AS s
    GROUP BY s.first
) AS g
CROSS JOIN LATERAL UNNEST(g.rids, g.classes) AS u (rid, class)

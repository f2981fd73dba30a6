-- name: table/tied
-- params: tied (table to make), stage, work, assign (tables), shared (table of rid: all rows of
--   equal codes that are in more than one class; or none: any may be), codes (QI and SA code
--   columns), kept (list of {alias, kind}: the columns that are published as they are), link (alias
--   of each column that it is the hash of, and whether that is a listed text; none: the column link)
-- returns: rid integer, class integer: for every row in a group of equal codes that is
--   divided among classes, the class that it gets. The classes of a group are given in
--   their order to its rows in that of a hash of what makes up a row, keyed with :secret.
-- The link is a hash of the row's identifiers, or of all its columns; see
-- prepare.link_columns. HASH makes a row one number, which
--   SHA-256 then keys: a text of all columns costs several times as much. It is made of
--   values as they look: -0.0 is not 0.0, and of types whose equal values may look different
--   it takes the text. 64 bits of the SHA-256 sort several times as fast as its text.
-- Both orders hold as many rows of each group, so that equal turns are of one group.
{% if seen is not defined %}
{% macro seen(c) %}
{% if c.kind == "other" %}CAST(o.{{ c.alias }} AS VARCHAR){% else %}o.{{ c.alias }}{% endif %}
{% if c.kind == "float" %}, CASE WHEN o.{{ c.alias }} = 0 THEN CAST(o.{{ c.alias }} AS VARCHAR) END{% endif %}
{% endmacro %}
{% endif %}
CREATE {{ tied | scratch }} AS
WITH shared AS {% block materialized %}MATERIALIZED {% endblock %}(
    SELECT w.rid AS rid, g.first AS first, a.class AS class
        ,
{% block turn_key %}
            HASH(SHA256(
                :secret || '/tie/' || CAST(
                    HASH({{ link | link_of("o") }}{% for c in kept %}, {{ seen(c) }}{% endfor %}) AS VARCHAR
                )
            ))
{% endblock %}
            AS turn_key
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
{% block paired %}
SELECT t.rid AS rid, p.class AS class
FROM (SELECT s.rid AS rid, ROW_NUMBER() OVER (ORDER BY s.first, s.turn_key, s.rid) AS turn FROM shared AS s) AS t
JOIN (SELECT s.class AS class, ROW_NUMBER() OVER (ORDER BY s.first, s.class) AS turn FROM shared AS s) AS p
    ON p.turn = t.turn
{% endblock %}

-- name: frozen/moved
-- params: moved (table to make), compared, leaving, stage (tables), columns (aliases of the stage)
-- returns: rid, class, the staged columns: rows that stay published and of which only
--   quasi columns changed, which may still lie in the published cell
CREATE {{ moved | scratch }} AS
SELECT
    CAST(s.rid AS INTEGER) AS rid
    , c.class AS class
{% for name in columns %}
    , s.{{ name }} AS {{ name }}
{% endfor %}
FROM {{ compared | table }} AS c
JOIN {{ stage | table }} AS s ON s.rid = c.rid
WHERE c.class IS NOT NULL AND c.apart AND NOT c.changed
    AND NOT EXISTS (SELECT 1 FROM {{ leaving | table }} AS x WHERE x.class = c.class)

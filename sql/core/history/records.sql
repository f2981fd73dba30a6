-- name: history/records
-- params: records (table to make), here, there (history tables of two versions), own_here, own_there (their columns of
--   boxes; none: they have classes), common (bool: rows of both versions, else those that only the version here has)
-- returns: row bigint (0, 1, ..), person, place (the class or box that it is published in here), boxes (all
--   that it fits; without boxes of their own none), with common also beside and boxes_beside: the same there
CREATE {{ records | scratch }} AS
SELECT
    ROW_NUMBER() OVER (ORDER BY h.person) - 1 AS row
    , h.person AS person
    , h.class AS place{% if own_here %}, h.boxes AS boxes{% endif %}

{% if common %}
    , t.class AS beside
{% if own_there %}
    , t.boxes AS boxes_beside
{% endif %}
{% endif %}
FROM {{ here | table }} AS h
{{ "" if common else "LEFT " }}JOIN {{ there | table }} AS t ON t.person = h.person AND t.class IS NOT NULL
WHERE h.class IS NOT NULL{% if not common %} AND t.person IS NULL{% endif %}


-- name: statistics/whole_changes
-- params: changes (table to make), witness, atoms (tables of parts), sums (list of {place})
-- returns: witness bigint, atom bigint (number of a finest combination), change bigint,
--   s<sum> bigint: the changes of all parts of it
CREATE {{ changes | scratch }} AS
SELECT
    w.witness AS witness
    , a.whole AS atom
    , CAST(SUM(w.change) AS BIGINT) AS change
{% for s in sums %}
    , CAST(SUM(w.s{{ s.place }}) AS BIGINT) AS s{{ s.place }}
{% endfor %}
FROM {{ witness | table }} AS w
JOIN {{ atoms | table }} AS a ON a.atom = w.atom
GROUP BY w.witness, a.whole

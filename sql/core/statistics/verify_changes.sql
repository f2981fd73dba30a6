-- name: statistics/verify_changes
-- params: witness, atoms (tables), counted (n or persons), sums (list of {place, low, high})
-- returns: unknown bigint (changes of no atom), twice bigint (an atom that a witness changes twice), broken bigint
--   (changes that are no whole number or make an atom negative, or take a sum out of what its rows can have)
SELECT
    (
        SELECT COUNT(*)
        FROM {{ witness | table }} AS w
        LEFT JOIN {{ atoms | table }} AS a ON a.atom = w.atom
        WHERE a.atom IS NULL
    ) AS unknown
    , (
        SELECT COUNT(*)
        FROM (
            SELECT w.witness AS witness, w.atom AS atom
            FROM {{ witness | table }} AS w
            GROUP BY w.witness, w.atom
            HAVING COUNT(*) > 1
        ) AS t
    ) AS twice
    , (
        SELECT COUNT(*)
        FROM {{ witness | table }} AS w
        LEFT JOIN {{ atoms | table }} AS a ON a.atom = w.atom
        WHERE w.change IS NULL
            OR w.change <> CAST(w.change AS BIGINT)
            OR a.{{ counted }} + w.change < 0
{% for s in sums %}
            OR w.s{{ s.place }} IS NULL
            OR w.s{{ s.place }} <> CAST(w.s{{ s.place }} AS BIGINT)
            OR a.s{{ s.place }} + w.s{{ s.place }} < ({{ s.low }}) * (a.{{ counted }} + w.change)
            OR a.s{{ s.place }} + w.s{{ s.place }} > ({{ s.high }}) * (a.{{ counted }} + w.change)
{% endfor %}
    ) AS broken

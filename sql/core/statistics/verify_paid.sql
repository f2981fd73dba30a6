-- name: statistics/verify_paid
-- params: paid, atoms (tables), sums (list of {place})
-- returns: unknown bigint (changes of sums of no atom), twice bigint (an atom whose sums a
--   witness changes twice), broken bigint (changes that are no whole number)
SELECT
    (
        SELECT COUNT(*)
        FROM {{ paid | table }} AS p
        LEFT JOIN {{ atoms | table }} AS a ON a.atom = p.atom
        WHERE a.atom IS NULL
    ) AS unknown
    , (
        SELECT COUNT(*)
        FROM (
            SELECT q.witness AS witness, q.atom AS atom
            FROM {{ paid | table }} AS q
            GROUP BY q.witness, q.atom
            HAVING COUNT(*) > 1
        ) AS t
    ) AS twice
    , (
        SELECT COUNT(*)
        FROM {{ paid | table }} AS r
        WHERE r.witness IS NULL
{% for s in sums %}
            OR r.s{{ s.place }} IS NULL
            OR r.s{{ s.place }} <> CAST(r.s{{ s.place }} AS BIGINT)
{% endfor %}
    ) AS broken

-- name: freeform/regular
-- params: edges, drawn (the certificate's tables), k (how many matchings), words (lists of
--   the numbers of matchings, at most 62 each, that are bits of one integer)
-- returns: edges, different pairs of row and box, rows, rows that have one edge of each of the k
--   matchings, boxes, boxes likewise, drawn boxes, and rows that have one, all bigint: k
--   matchings are bijections without a common edge where the first two are k n, and the others n
SELECT
{% block counts %}
    (SELECT COUNT(*) FROM {{ edges | table }} AS e) AS edges
    , (
        SELECT COUNT(*)
        FROM (SELECT e.slot AS slot, e.box AS box FROM {{ edges | table }} AS e GROUP BY e.slot, e.box) AS p
    ) AS pairs
{% endblock %}
    , r.n AS slots, r.held AS held_slots
    , b.n AS boxes, b.held AS held_boxes
    , (SELECT COUNT(*) FROM {{ drawn | table }} AS d) AS drawn
    , (SELECT COUNT(DISTINCT d.slot) FROM {{ drawn | table }} AS d) AS drawn_slots
FROM {% for end in ("slot", "box") %}
{{ "CROSS JOIN " if not loop.first }}(
    SELECT COUNT(*) AS n
{% block sums scoped %}{% endblock %}
        , CAST(COALESCE(SUM(CASE
            WHEN g.n = {{ k }}
{% for some in words %}
                AND g.seen{{ loop.index }} = {{ 2 ** (some | length) - 1 }}
{% endfor %}
                THEN 1
            ELSE 0
        END), 0) AS BIGINT) AS held
    FROM (
        SELECT COUNT(*) AS n{% for some in words %}

            , BIT_OR(CASE
                WHEN e.matching BETWEEN {{ some | first }} AND {{ some | last }}
                    THEN CAST(1 AS BIGINT) << CAST(e.matching - {{ some | first }} AS INTEGER)
                ELSE 0
            END) AS seen{{ loop.index }}
{% endfor %}
{% block lists scoped %}
{% endblock %}
        FROM {{ edges | table }} AS e
        GROUP BY e.{{ end }}
    ) AS g
) AS {{ "r" if end == "slot" else "b" }}
{% endfor %}

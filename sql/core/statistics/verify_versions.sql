-- name: statistics/verify_versions
-- params: published (as statistics/published makes it), cells (private table with batches),
--   columns (list), measures (list), sums (list of {place}), bounds (bool), version (of the table)
-- returns: failing bigint: published rows that do not follow from the versions: the numbers are
--   the sums over all versions up to that of as_of; none of their own rows is hidden; the rows of
--   the next version are hidden, unless it is the last; hidden is what begins hidden; bounds are
--   the sums of those of all versions, and tight where all are; and missing or repeated cells
{% from "core/statistics/verify_cells.jinja" import same_cell %}
SELECT
    (SELECT COUNT(*) FROM {{ published | table }} AS x)
    - (
        SELECT COUNT(*)
        FROM (
            SELECT DISTINCT
{% for c in columns %}
                {{ ", " if not loop.first }}y.l{{ loop.index }}
                , y.k{{ loop.index }}
{% endfor %}
            FROM {{ published | table }} AS y
        ) AS z
    )
    + (
        SELECT COUNT(*)
        FROM (
            SELECT DISTINCT
{% for c in columns %}
                {{ ", " if not loop.first }}d.l{{ loop.index }} AS l{{ loop.index }}
                , d.k{{ loop.index }} AS k{{ loop.index }}
{% endfor %}
            FROM {{ cells | table }} AS d
        ) AS e
        FULL JOIN {{ published | table }} AS q ON
            {{ same_cell(columns, "q", "e") }}
        WHERE q.l1 IS NULL OR e.l1 IS NULL
    )
    + (
        SELECT COUNT(*)
        FROM (
            SELECT
                p.status AS status
                , p.as_of AS as_of
{% for m in measures %}
                , p.m{{ loop.index }} AS m{{ loop.index }}
{% if bounds %}
                , p.lower{{ loop.index }} AS lower{{ loop.index }}
                , p.upper{{ loop.index }} AS upper{{ loop.index }}
                , p.tight{{ loop.index }} AS tight{{ loop.index }}
{% endif %}
{% endfor %}
{% if bounds %}
                , SUM(c.low) AS low
                , CASE WHEN MIN(c.high) >= 0 THEN SUM(c.high) ELSE -1 END AS high
                , MIN(c.tight) AS tight
{% endif %}
{% for s in sums %}
                , p.x{{ s.place }} AS x{{ s.place }}
{% if bounds %}
                , p.least{{ s.place }} AS least{{ s.place }}
                , p.most{{ s.place }} AS most{{ s.place }}
                , p.sure{{ s.place }} AS sure{{ s.place }}
                , MIN(c.tight{{ s.place }}) AS tight_sum{{ s.place }}
                , CASE
                    WHEN MIN(c.low{{ s.place }}) > -4611686018427387904 THEN SUM(c.low{{ s.place }})
                END AS low{{ s.place }}
                , CASE
                    WHEN MAX(c.high{{ s.place }}) < 4611686018427387904 THEN SUM(c.high{{ s.place }})
                END AS high{{ s.place }}
{% endif %}
                , SUM(CASE WHEN c.batch <= p.as_of THEN c.s{{ s.place }} ELSE 0 END) AS s{{ s.place }}
{% endfor %}
                , SUM(CASE WHEN c.batch <= p.as_of THEN c.n ELSE 0 END) AS total
                , SUM(CASE WHEN c.batch <= p.as_of THEN c.hidden ELSE 0 END) AS unseen
                , MIN(c.batch) AS begun
                , SUM(CASE WHEN c.batch = o.batch THEN c.hidden ELSE 0 END) AS stops
                , MIN(CASE WHEN c.hidden = 1 THEN c.batch END) AS first_hidden
                , MIN(o.batch) AS following
            FROM {{ published | table }} AS p
            JOIN {{ cells | table }} AS c ON
                {{ same_cell(columns, "c", "p") }}
            LEFT JOIN (
                SELECT v.batch AS as_of, MIN(w.batch) AS batch
                FROM (SELECT DISTINCT m.batch AS batch FROM {{ cells | table }} AS m) AS v
                JOIN (SELECT DISTINCT n.batch AS batch FROM {{ cells | table }} AS n) AS w ON w.batch > v.batch
                GROUP BY v.batch
            ) AS o ON o.as_of = p.as_of
            GROUP BY
                p.status
                , p.as_of
{% for m in measures %}
                , p.m{{ loop.index }}
{% if bounds %}
                , p.lower{{ loop.index }}, p.upper{{ loop.index }}, p.tight{{ loop.index }}
{% endif %}
{% endfor %}
{% for s in sums %}
                , p.x{{ s.place }}
{% if bounds %}
                , p.least{{ s.place }}, p.most{{ s.place }}, p.sure{{ s.place }}
{% endif %}
{% endfor %}
{% for c in columns %}
                , p.l{{ loop.index }}, p.k{{ loop.index }}
{% endfor %}
        ) AS r
        WHERE CASE
            WHEN r.status = 'shown'
                THEN CASE
                    WHEN
{% for m in measures %}
                    r.m{{ loop.index }} = r.total AND
{% endfor %}
{% for s in sums %}
                    r.x{{ s.place }} = r.s{{ s.place }} AND
{% endfor %}
                    r.unseen = 0 AND ((r.following IS NULL AND r.as_of = {{ version }}) OR r.stops = 1) THEN 0
                    ELSE 1
                END
            WHEN r.status = 'hidden'
                THEN CASE
                    WHEN
{% for m in measures %}
                    r.m{{ loop.index }} IS NULL AND
{% endfor %}
{% for s in sums %}
                    r.x{{ s.place }} IS NULL AND
{% endfor %}
                    r.as_of = {{ version }} AND r.first_hidden = r.begun THEN 0
                    ELSE 1
                END
            ELSE 1
        END = 1
{% if bounds %}
{% for m in measures %}
        OR r.lower{{ loop.index }} IS NULL
        OR r.lower{{ loop.index }} <> r.low
        OR COALESCE(r.upper{{ loop.index }}, -1) <> r.high
        OR COALESCE(r.tight{{ loop.index }}, -1) <> r.tight
{% endfor %}
{% for s in sums %}
        OR COALESCE(r.sure{{ s.place }}, -1) <> r.tight_sum{{ s.place }}
        OR CASE
            WHEN r.least{{ s.place }} = r.low{{ s.place }}
                OR (r.least{{ s.place }} IS NULL AND r.low{{ s.place }} IS NULL)
                THEN 0
            ELSE 1
        END = 1
        OR CASE
            WHEN r.most{{ s.place }} = r.high{{ s.place }}
                OR (r.most{{ s.place }} IS NULL AND r.high{{ s.place }} IS NULL)
                THEN 0
            ELSE 1
        END = 1
{% endfor %}
{% endif %}

    ) AS failing

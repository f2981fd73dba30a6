-- name: statistics/verify_person_rows
-- params: listed (table to make), keyed (table, as statistics/verify_rows makes it), atoms
--   (table), columns (list of {levels})
-- returns: person bigint, atom bigint, times bigint: of the staged rows how many a person
--   has of each finest combination; for verification alone
CREATE {{ listed | scratch }} AS
SELECT s.person AS person, a.atom AS atom, COUNT(*) AS times
FROM {{ keyed | table }} AS s
JOIN {{ atoms | table }} AS a
    ON
{% for c in columns %}
{% set i = loop.index %}
{% set outer = loop.first %}
{% for level in range(c.levels) %}
        {{ " AND " if not (outer and loop.first) }}a.v{{ i }}_{{ level }} = s.v{{ i }}_{{ level }}
{% endfor %}
{% endfor %}
GROUP BY s.person, a.atom

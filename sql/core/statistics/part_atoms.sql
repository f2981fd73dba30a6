-- name: statistics/part_atoms
-- params: parts (table to make), atoms (table, as statistics/atoms makes it), listed
--   (table of atom, whole, kind, class, class_persons, weight, n and the ranks), columns
--   (list of {levels}), neighbour (list of {place}), sums (list of {place})
-- returns: the atoms of a system with the classes of a release of rows: keys, persons and sums
--   s<sum> of the finest combination, n bigint (its rows in the class), whole bigint (the finest
--   combination), kind bigint (its sum is published; -1: of rows that are left out), class
--   bigint, class_persons bigint (the persons of the class where a person has several rows; else
--   0), weight bigint (what these weigh of the kind, in 1 / 720720), ranks r<place> bigint
{% from "core/statistics/cells.jinja" import columns_of_levels %}
CREATE {{ parts | scratch }} AS
SELECT
    l.atom AS atom
{{ columns_of_levels(columns, "a") }}
    , l.n AS n
    , a.persons AS persons
    , a.owner AS owner
{% for s in sums %}
    , a.s{{ s.place }} AS s{{ s.place }}
{% endfor %}
    , l.whole AS whole
    , l.kind AS kind
    , l.class AS class
    , l.class_persons AS class_persons
    , l.weight AS weight
{% for c in neighbour %}
    , l.r{{ c.place }} AS r{{ c.place }}
{% endfor %}
FROM {{ listed | table }} AS l
JOIN {{ atoms | table }} AS a ON a.atom = l.whole

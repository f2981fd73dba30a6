-- name: suppress/residue
-- params: residue (table to make), work, assign (tables), number (class of the residue), codes (QI and SA code columns)
-- returns: rid and the codes: the rows of the residue, as a work table
CREATE {{ residue | scratch }} AS
SELECT w.rid AS rid{% for c in codes %}, w.{{ c }} AS {{ c }}{% endfor %}

FROM {{ work | table }} AS w
JOIN {{ assign | table }} AS a ON a.rid = w.rid
WHERE a.class = {{ number }}

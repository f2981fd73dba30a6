-- name: recode/members
-- params: members (table to make), classed, domain (tables), column (code column), labels
--   (table of code, label; or none), whole (bool)
-- returns: key (the class; if whole also -1, with the values of all classes), size bigint, members
--   (array sorted by bytes), label text (if labels): the set of a nominal column, NULL left out
CREATE {{ members | scratch }} AS
SELECT
    p.class AS key
    , COUNT(*) AS size
    , {% block sorted %}ARRAY_AGG(d.value ORDER BY d.value){% endblock %} AS members
{% if labels %}
    , CASE
        WHEN COUNT(*) = 1 THEN MIN(l.label)
        ELSE '{' || STRING_AGG(l.label, ', ' ORDER BY d.value) || '}'
    END AS label
{% endif %}
FROM (
    SELECT {% block distinct %}{% endblock %}w.class AS class, w.{{ column }} AS code
    FROM {{ classed | table }} AS w
{% block grouped %}
    GROUP BY w.class, w.{{ column }}
{% endblock %}
{% if whole %}
    UNION ALL
    SELECT DISTINCT -1 AS class, a.{{ column }} AS code
    FROM {{ classed | table }} AS a
{% endif %}
) AS p
JOIN {{ domain | table }} AS d ON d.code = p.code
{% if labels %}
JOIN {{ labels | table }} AS l ON l.code = p.code
{% endif %}
WHERE d.value IS NOT NULL
GROUP BY p.class

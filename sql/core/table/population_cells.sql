-- name: table/population_cells
-- params: cells (table to make), people (table of staged rows of a population), columns
--   (list of {alias, code, domain, codes, nulls (bool: code 0 is NULL), kind (ordered, set
--   or tree), ranks (table of value, rank; or none), as_text, as_float})
-- returns: a column per code, n bigint: rows of the population by the codes of the source. A value that the source
--   has not is codes where the last level of the column covers it, codes + 1 where no level does, and refused with
--   codes + 2 (NULL, where the source has none) or codes + 3 (not in the hierarchy or the given order).
CREATE {{ cells | scratch }} AS
SELECT {% for c in columns %}g.{{ c.code }} AS {{ c.code }}, {% endfor %}COUNT(*) AS n
FROM (
    SELECT
{% for c in columns %}
{% set own = "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else ("s." ~ c.alias ~ " + 0" if c.as_float
    else "s." ~ c.alias) %}
        {{ ", " if not loop.first }}CAST(CASE
            WHEN d{{ loop.index }}.code IS NOT NULL THEN d{{ loop.index }}.code
            WHEN {{ own }} IS NULL THEN {{ 0 if c.nulls else c.codes + 2 }}
{% if c.kind == "tree" %}
            ELSE {{ c.codes + 3 }}
{% elif c.ranks %}
            WHEN k{{ loop.index }}.rank IS NULL THEN {{ c.codes + 3 }}
{% endif %}
{% if c.kind != "tree" and c.nulls %}
            ELSE {{ c.codes }}
{% elif c.kind == "ordered" and c.ranks %}
            WHEN k{{ loop.index }}.rank >= kl{{ loop.index }}.rank
                AND k{{ loop.index }}.rank <= kh{{ loop.index }}.rank THEN {{ c.codes }}
            ELSE {{ c.codes + 1 }}
{% elif c.kind == "ordered" %}
            WHEN {{ own }} >= l{{ loop.index }}.value AND {{ own }} <= h{{ loop.index }}.value THEN {{ c.codes }}
            ELSE {{ c.codes + 1 }}
{% elif c.kind == "set" %}
            ELSE {{ c.codes + 1 }}
{% endif %}
        END AS INTEGER) AS {{ c.code }}
{% endfor %}
    FROM {{ people | table }} AS s
{% for c in columns %}
{% set own = "CAST(s." ~ c.alias ~ " AS VARCHAR)" if c.as_text else ("s." ~ c.alias ~ " + 0" if c.as_float
    else "s." ~ c.alias) %}
    LEFT JOIN {{ c.domain | table }} AS d{{ loop.index }} ON d{{ loop.index }}.value = {{ own }}
{% if c.ranks %}
    LEFT JOIN {{ c.ranks | table }} AS k{{ loop.index }} ON k{{ loop.index }}.value = {{ own }}
{% endif %}
{% if c.kind == "ordered" and not c.nulls %}
    LEFT JOIN {{ c.domain | table }} AS l{{ loop.index }} ON l{{ loop.index }}.code = 0
    LEFT JOIN {{ c.domain | table }} AS h{{ loop.index }} ON h{{ loop.index }}.code = {{ c.codes - 1 }}
{% if c.ranks %}
    LEFT JOIN {{ c.ranks | table }} AS kl{{ loop.index }} ON kl{{ loop.index }}.value = l{{ loop.index }}.value
    LEFT JOIN {{ c.ranks | table }} AS kh{{ loop.index }} ON kh{{ loop.index }}.value = h{{ loop.index }}.value
{% endif %}
{% endif %}
{% endfor %}
) AS g
GROUP BY {% for c in columns %}{{ ", " if not loop.first }}g.{{ c.code }}{% endfor %}


-- name: table/level_calendar
-- params: values (a frequency set), units (list of day, week, month, quarter, year,
--   decade), zoned (bool: a timestamp with time zone)
-- returns: value, and per unit low1.. (bigint: the day, or the first day of the week, in
--   days since 1970-01-01; months or quarters since the year 0; the year; the first year
--   of the decade; NULL: not a day of the years 1 to 9999): every value that is not NULL
{% set v = "CAST(v.value AS %s)" % dialect.timestamp if zoned else "v.value" %}
SELECT
    d.value AS value
{% for unit in units %}
{% if unit == "day" %}
    , CASE WHEN d.known = 1 THEN d.days END AS low{{ loop.index }}
{% elif unit == "week" %}
    , CASE WHEN d.known = 1 THEN d.days - MOD(MOD(d.days + 3, 7) + 7, 7) END AS low{{ loop.index }}
{% elif unit == "month" %}
    , CASE WHEN d.known = 1 THEN d.years * 12 + d.months - 1 END AS low{{ loop.index }}
{% elif unit == "quarter" %}
    , CASE
        WHEN d.known = 1 THEN d.years * 4 + {% block quarter %}CAST(FLOOR((d.months - 1) / 3) AS BIGINT){% endblock %}
    END AS low{{ loop.index }}
{% elif unit == "year" %}
    , CASE WHEN d.known = 1 THEN d.years END AS low{{ loop.index }}
{% else %}
    , CASE WHEN d.known = 1 THEN d.years - MOD(d.years, 10) END AS low{{ loop.index }}
{% endif %}
{% endfor %}
FROM (
    SELECT
        v.value AS value
{% block units %}
{% set known = "ISFINITE(" ~ v ~ ")" %}
        , CASE WHEN {{ known }} THEN CAST(CAST({{ v }} AS DATE) - DATE '1970-01-01' AS BIGINT) END AS days
        , CASE WHEN {{ known }} THEN CAST(EXTRACT(YEAR FROM {{ v }}) AS BIGINT) END AS years
        , CASE WHEN {{ known }} THEN CAST(EXTRACT(MONTH FROM {{ v }}) AS BIGINT) END AS months
        , CASE WHEN NOT {{ known }} THEN 0 WHEN EXTRACT(YEAR FROM {{ v }}) BETWEEN 1 AND 9999 THEN 1 ELSE 0 END AS known
{% endblock %}
    FROM {{ values | table }} AS v
    WHERE v.value IS NOT NULL
) AS d

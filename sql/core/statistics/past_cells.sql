-- name: statistics/past_cells
-- params: made (table to make), past (such a table of the version before, or none), cells (private cells with batches,
--   or none), first (the first version of all), began (the version with which the last lineage began), newcomers
--   (cells, as statistics/cells makes them), batch (number of the version), empty (bool: without rows), columns (list)
-- returns: the cells that readers of earlier versions know not to be empty: levels and
--   keys, n and persons bigint, hidden integer (1: readers do not have the number), and of
--   which versions' rows they are: since, batch bigint; those of the new rows are hidden
{% macro levels(of) %}
{% for c in columns %}
, {{ of }}.l{{ loop.index }} AS l{{ loop.index }}, {{ of }}.k{{ loop.index }} AS k{{ loop.index }}
{% endfor %}
{% endmacro %}
CREATE {{ made | scratch }} AS
SELECT u.since AS since, u.batch AS batch, u.hidden AS hidden, u.n AS n, u.persons AS persons{{ levels("u") }}
FROM (
{% if past %}
    SELECT p.since AS since, p.batch AS batch, p.hidden AS hidden, p.n AS n, p.persons AS persons{{ levels("p") }}
    FROM {{ past | table }} AS p
    UNION ALL
{% endif %}
{% if cells %}
    SELECT
        CASE WHEN b.batch = {{ began }} THEN CAST({{ first }} AS BIGINT) ELSE b.batch END AS since
        , b.batch AS batch
        , b.hidden AS hidden
        , b.n AS n
        , b.persons AS persons{{ levels("b") }}
    FROM {{ cells | table }} AS b
    UNION ALL
{% endif %}
    SELECT
        CAST({{ batch }} AS BIGINT) AS since
        , CAST({{ batch }} AS BIGINT) AS batch
        , 1 AS hidden
        , c.n AS n
        , c.persons AS persons{{ levels("c") }}
    FROM {{ newcomers | table }} AS c
{% if empty %}
    WHERE 1 = 0
{% endif %}
) AS u

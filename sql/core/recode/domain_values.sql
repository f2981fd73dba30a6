-- name: recode/domain_values
-- params: domain (table), zoned (bool: the column is a timestamp with time zone)
-- returns: code integer, value
SELECT d.code AS code, {{ "CAST(d.value AS TIMESTAMP)" if zoned else "d.value" }} AS value
FROM {{ domain | table }} AS d
WHERE d.value IS NOT NULL

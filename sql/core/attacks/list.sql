-- name: attacks/list
-- params: attacks (table), release (whether it is bound)
-- returns: the attacks that were kept of a release, or of all, oldest first
SELECT a.number AS number, a.release AS release, a.version AS version, a.made_at AS made_at, a.figures AS figures
FROM {{ attacks | table }} AS a
{% if release %}
WHERE a.release = :release
{% endif %}
ORDER BY number

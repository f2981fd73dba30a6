-- name: refresh/fingerprint
-- That length is in bytes, which PostgreSQL knows without reading long values.
-- Through text where a type has no hash, and for text itself, whose collation may call
-- different values equal. The hash is hashed once more, and NULL has that of 0.0 and of the numeric NaN: see
-- verify/fingerprint.
SELECT
    COUNT(*) AS n
    , CAST(COALESCE(SUM(hash_numeric_extended(CAST(hash_record_extended(ROW(
        CAST(:secret AS text)
{% for c in columns %}
        , {{ "CAST(s." ~ (c.name | ident) ~ ' AS text) COLLATE "C"' if c.as_text or c.listed
            else "s." ~ (c.name | ident) }}{{ ", s." ~ (c.name | ident) ~ " IS NULL" if c.kind == "float" }}
{% endfor %}
    ), 0) AS numeric), 0)), 0) AS text) AS mark
{% for text in texts %}
    , CAST(COALESCE(SUM(OCTET_LENGTH(CAST(s.{{ text | ident }} AS text))), 0) AS BIGINT) AS c{{ loop.index }}
{% endfor %}
FROM {{ source | table }} AS s

-- name: functions/hilbert_key
-- params: schema (as SQL), temporary (bool: of this connection only)
-- returns: nothing
-- hilbert_key(cells INTEGER[], bits INTEGER) -> BIGINT: where a point of a grid lies on the Hilbert curve (Skilling's
-- transform, 2004). A cell is 0 to 2^bits - 1; 1 to 62 cells; bits 1 to 31; a key of more than 63 bits does not fit:
-- use hilbert_key_bytes. NULL if cells, one of them, or bits is NULL; an error for anything else outside.
-- Arguments are outside of every lambda, so that a caller's column may have the name of a lambda's parameter.
CREATE OR REPLACE {{ "TEMPORARY " if temporary }}MACRO {{ schema }}.hilbert_key(cells, bits) AS list_transform(
    [struct_pack(x := CAST(cells AS INTEGER[]), b := CAST(bits AS INTEGER))],
    lambda p: CASE
        WHEN p['x'] IS NULL OR p['b'] IS NULL OR list_count(p['x']) < len(p['x']) THEN CAST(NULL AS BIGINT)
        WHEN p['b'] NOT BETWEEN 1 AND 31 THEN error('hilbert_key: bits must be 1 to 31')
        WHEN len(p['x']) NOT BETWEEN 1 AND 62 THEN error('hilbert_key: there must be 1 to 62 cells')
        WHEN len(p['x']) * p['b'] > 63
            THEN error('hilbert_key: cells times bits is more than 63; use hilbert_key_bytes')
        WHEN list_min(p['x']) < 0 OR CAST(list_max(p['x']) AS BIGINT) >= CAST(1 AS BIGINT) << p['b']
            THEN error('hilbert_key: every cell must be 0 to 2^bits - 1')
        ELSE list_transform(
            -- The axes side by side in one word, the first lowest. On each level, the highest first, an axis with the
            -- level's bit mirrors the lower bits of the first axis, an axis without it swaps them with its own.
            [list_reduce(
                range(p['b'] - 1, 0, -1),
                lambda w, level: list_reduce(
                    range(0, len(p['x']) * p['b'], p['b']),
                    lambda v, s: CASE
                        WHEN (v >> (s + level)) & 1 = 1 THEN xor(v, (CAST(1 AS BIGINT) << level) - 1)
                        ELSE xor(
                            v,
                            (xor(v, v >> s) & ((CAST(1 AS BIGINT) << level) - 1)) * ((CAST(1 AS BIGINT) << s) | 1)
                        )
                    END,
                    w
                ),
                list_reduce(list_reverse(p['x']), lambda w, c: (w << p['b']) | c, CAST(0 AS BIGINT))
            )],
            -- The key: of each level one bit an axis, Gray decoded from the front.
            lambda w: list_reduce(
                range(p['b'] - 1, -1, -1),
                lambda k, level: list_reduce(
                    range(0, len(p['x']) * p['b'], p['b']),
                    lambda j, s: (j << 1) | xor(j & 1, (w >> (s + level)) & 1),
                    k
                ),
                CAST(0 AS BIGINT)
            )
        )[1]
    END
)[1]

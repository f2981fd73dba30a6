-- name: functions/hilbert_key_bytes
-- params: schema (as SQL), temporary (bool: of this connection only)
-- returns: nothing
-- hilbert_key_bytes(cells INTEGER[], bits INTEGER) -> BLOB: the key of hilbert_key at any length, as
-- ceil(cells * bits / 8) bytes, the highest first, so that keys of one grid sort as bytes. A cell is 0 to 2^bits - 1;
-- 1 to 62 cells; bits 1 to 31. NULL if cells, one of them, or bits is NULL; an error for anything else outside.
-- Arguments are outside of every lambda, so that a caller's column may have the name of a lambda's parameter.
CREATE OR REPLACE {{ "TEMPORARY " if temporary }}MACRO {{ schema }}.hilbert_key_bytes(cells, bits) AS list_transform(
    [struct_pack(x := CAST(cells AS INTEGER[]), b := CAST(bits AS INTEGER))],
    lambda p: CASE
        WHEN p['x'] IS NULL OR p['b'] IS NULL OR list_count(p['x']) < len(p['x']) THEN CAST(NULL AS BLOB)
        WHEN p['b'] NOT BETWEEN 1 AND 31 THEN error('hilbert_key_bytes: bits must be 1 to 31')
        WHEN len(p['x']) NOT BETWEEN 1 AND 62 THEN error('hilbert_key_bytes: there must be 1 to 62 cells')
        WHEN list_min(p['x']) < 0 OR CAST(list_max(p['x']) AS BIGINT) >= CAST(1 AS BIGINT) << p['b']
            THEN error('hilbert_key_bytes: every cell must be 0 to 2^bits - 1')
        ELSE list_transform(
            -- The axes in a list, the first at its end. A level's bits are in a word, the first axis highest (it is
            -- moved there: >> 1 and << (axes - 1)). Walking over the axes, one with the level's bit mirrors the lower
            -- bits of the first axis and one without it swaps them with its own; so an axis without it ends up with
            -- those of the last axis before it that has none either (else of the first), mirrored once for each axis
            -- between, and the first with those of the last. How many are between is how many ones end the word there.
            [list_reduce(
                range(p['b'] - 1, 0, -1),
                lambda x, level: list_transform(
                    [list_reduce(x, lambda w, c: (w << 1) | ((c >> level) & 1), CAST(0 AS BIGINT))],
                    lambda r: list_transform(
                        [(r >> 1) | ((r & 1) << (len(x) - 1))],
                        lambda w: list_transform(
                            list_transform(
                                x,
                                lambda c, i: bit_count(xor(w >> (len(x) - i), (w >> (len(x) - i)) + 1)) - 1
                            ),
                            lambda ones, i: CASE
                                WHEN i < len(x) AND (x[i] >> level) & 1 = 1 THEN x[i]
                                ELSE xor(
                                    x[i],
                                    xor(xor(
                                        x[i], x[CASE WHEN ones < i - 1 THEN i - 1 - ones ELSE len(x) END]
                                    ), -(ones & 1))
                                    & ((CAST(1 AS BIGINT) << level) - 1)
                                )
                            END
                        )
                    )[1]
                )[1],
                CAST(list_append(p['x'][2:], p['x'][1]) AS BIGINT[])
            )],
            -- The key: of each level one bit an axis, Gray decoded from the front.
            lambda x: list_transform(
                [list_prepend(x[-1], x[:-2])],
                lambda y: CAST(CAST(list_reduce(
                    range(p['b'] - 1, -1, -1),
                    lambda k, level: k || lpad(bin(list_reduce(
                        y,
                        lambda t, c: (t << 1) | xor(t & 1, (c >> level) & 1),
                        CAST(right(k, 1) = '1' AS BIGINT)
                    ) & ((CAST(1 AS BIGINT) << len(y)) - 1)), CAST(len(y) AS INTEGER), '0'),
                    ''
                ) AS BIT) AS BLOB)
            )[1]
        )[1]
    END
)[1]

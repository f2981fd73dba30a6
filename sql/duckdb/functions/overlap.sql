-- name: functions/overlap
-- params: schema (as SQL), temporary (bool: of this connection only)
-- returns: nothing
-- overlap(lo, hi, a, b) -> DOUBLE: the part of the values from lo to hi that lies from a to b, all ends included, 0 to
-- 1. The type of lo decides: integers and dates are counted, other numbers and timestamps measured; one value is in or
-- out. NULL if an argument is NULL. Ends may be texts of the type. Macros bind every branch, so values travel as text.
CREATE OR REPLACE {{ "TEMPORARY " if temporary }}MACRO {{ schema }}.overlap(lo, hi, a, b) AS list_transform(
    [struct_pack(
        lo := CASE
            WHEN typeof(lo) SIMILAR TO 'DATE|TIMESTAMP.*' THEN epoch(TRY_CAST(CAST(lo AS VARCHAR) AS TIMESTAMP))
            ELSE TRY_CAST(CAST(lo AS VARCHAR) AS DOUBLE)
        END
        ,
        hi := CASE
            WHEN typeof(lo) SIMILAR TO 'DATE|TIMESTAMP.*' THEN epoch(TRY_CAST(CAST(hi AS VARCHAR) AS TIMESTAMP))
            ELSE TRY_CAST(CAST(hi AS VARCHAR) AS DOUBLE)
        END
        ,
        a := CASE
            WHEN typeof(lo) SIMILAR TO 'DATE|TIMESTAMP.*' THEN epoch(TRY_CAST(CAST(a AS VARCHAR) AS TIMESTAMP))
            ELSE TRY_CAST(CAST(a AS VARCHAR) AS DOUBLE)
        END
        ,
        b := CASE
            WHEN typeof(lo) SIMILAR TO 'DATE|TIMESTAMP.*' THEN epoch(TRY_CAST(CAST(b AS VARCHAR) AS TIMESTAMP))
            ELSE TRY_CAST(CAST(b AS VARCHAR) AS DOUBLE)
        END
        ,
        step := CASE
            WHEN typeof(lo) SIMILAR TO 'U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?' THEN 1.0
            WHEN typeof(lo) = 'DATE' THEN 86400.0
            ELSE 0.0
        END
    )],
    lambda p: CASE
        WHEN p['lo'] IS NULL OR p['hi'] IS NULL OR p['a'] IS NULL OR p['b'] IS NULL THEN CAST(NULL AS DOUBLE)
        WHEN p['a'] > p['hi'] OR p['b'] < p['lo'] OR p['a'] > p['b'] THEN CAST(0 AS DOUBLE)
        WHEN p['hi'] = p['lo'] THEN CAST(1 AS DOUBLE)
        WHEN p['step'] > 0
            THEN greatest(
                floor(least(p['hi'], p['b']) / p['step']) - ceil(greatest(p['lo'], p['a']) / p['step']) + 1, 0.0
            )
                / ((p['hi'] - p['lo']) / p['step'] + 1)
        ELSE (least(p['hi'], p['b']) - greatest(p['lo'], p['a'])) / (p['hi'] - p['lo'])
    END
)[1]

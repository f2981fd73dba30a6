-- name: functions/ncp
-- params: schema (as SQL), temporary (bool: of this connection only)
-- returns: nothing
-- ncp(lo, hi, first, last) -> DOUBLE: the normalized certainty penalty of a range lo to hi over the domain first to
-- last: (hi - lo) / (last - first), 0 where the domain has one value (Xu et al., 2006). NULL if an argument is NULL.
CREATE OR REPLACE {{ "TEMPORARY " if temporary }}MACRO {{ schema }}.ncp(lo, hi, first, last) AS list_transform(
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
            WHEN typeof(lo) SIMILAR TO 'DATE|TIMESTAMP.*' THEN epoch(TRY_CAST(CAST(first AS VARCHAR) AS TIMESTAMP))
            ELSE TRY_CAST(CAST(first AS VARCHAR) AS DOUBLE)
        END
        ,
        b := CASE
            WHEN typeof(lo) SIMILAR TO 'DATE|TIMESTAMP.*' THEN epoch(TRY_CAST(CAST(last AS VARCHAR) AS TIMESTAMP))
            ELSE TRY_CAST(CAST(last AS VARCHAR) AS DOUBLE)
        END
    )],
    lambda p: CASE
        WHEN p['lo'] IS NULL OR p['hi'] IS NULL OR p['a'] IS NULL OR p['b'] IS NULL THEN CAST(NULL AS DOUBLE)
        WHEN p['b'] = p['a'] THEN CAST(0 AS DOUBLE)
        ELSE (p['hi'] - p['lo']) / (p['b'] - p['a'])
    END
)[1]

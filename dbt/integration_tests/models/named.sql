select zip as "NAME", zip as name_lo, zip as names from {{ ref('persons') }}

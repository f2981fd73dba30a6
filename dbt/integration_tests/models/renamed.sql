select name as label, zip from {{ ref('persons') }}

select patient_id - 1 as "Stay Days", 2 as patient_id_rank from {{ ref('persons') }}

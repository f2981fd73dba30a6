select
    patient_id,
    name,
    cast(floor((admitted - birth_date) / 365.25) as integer) as age,
    sex,
    zip,
    ward,
    diagnosis
from {{ ref('patients') }}

-- What analysts ask of the release: diagnoses, how many patients, how old at least and at most on average.
select
    diagnosis,
    count(*) as patients,
    avg(age_lo) as mean_age_at_least,
    avg(age_hi) as mean_age_at_most
from {{ source('release', 'patients') }}
group by diagnosis

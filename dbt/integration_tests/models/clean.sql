select age, zip, disease from {{ ref('visits') }}

select 1 as age, 'x' as zip

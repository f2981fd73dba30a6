{# A requirement that sqlanon does not have: no class has more rows than asked. #}
{% macro requirement_max_rows(model, columns, sensitive, joint, asked) %}
    select count(*) as failing_classes, coalesce(sum(class_rows), 0) as failing_rows
    from (select count(*) as class_rows from {{ model }} group by {{ columns | join(', ') }}) as classes
    where class_rows > {{ asked }}
{% endmacro %}

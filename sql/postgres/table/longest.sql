{% extends "core/table/longest.sql" %}

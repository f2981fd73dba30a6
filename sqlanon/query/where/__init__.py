"""What a condition says of a box: certainly true, certainly false, or a share; formulas, predicates, interval arithmetic."""

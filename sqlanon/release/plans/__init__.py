"""Contents of the plan of each kind of releases; `sqlanon.release.plan` makes plans."""

"""What must never happen: half a release, a mixed one, somebody else's table touched, a value revealed."""

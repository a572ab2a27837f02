"""Compare a run with an earlier one: what changed, and how much of it the sizes of the test sets explain."""

"""What was asked of a run, parsed and checked before any work is done."""

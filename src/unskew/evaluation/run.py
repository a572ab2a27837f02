"""What every stage of an evaluation needs."""

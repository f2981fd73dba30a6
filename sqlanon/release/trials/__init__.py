"""What a method would lose, tried on a sample of the staged rows: notes of plan and run."""

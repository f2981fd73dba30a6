"""What the project promises of its own files: what the wheel holds, who imports whom, how long a file is, what it names."""

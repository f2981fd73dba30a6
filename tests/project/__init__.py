"""What the project promises of its own files.

What the wheel holds, who imports whom, how long a file is, what it names.
"""

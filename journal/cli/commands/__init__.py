"""The commands: each function parses, makes one library call, and prints."""

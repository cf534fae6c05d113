"""The command line: parse, make one library call, print."""

"""Jobs larger than memory, and jobs for more than one machine."""

"""Search: from a question to passages with their place in the source, computed here for every store alike."""

"""Chunks as they are handed out: records, dialects, files of records, and links back to the source."""

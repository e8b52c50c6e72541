"""Where documents come from: each source lists items and fetches their bytes."""

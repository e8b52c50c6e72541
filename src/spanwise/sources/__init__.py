"""Sources: what there is to read. Each source yields items, and an item fetches its own bytes."""

"""The demo: documents in five languages that come with the package, chunked and shown in the terminal."""

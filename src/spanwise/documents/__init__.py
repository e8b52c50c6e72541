"""The data classes that all other packages use: Document, Block, Part, Page, Metadata, and Span."""

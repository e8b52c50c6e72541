"""The values that everything else is made of: Document, Block, Part, Page, Metadata, and Span."""

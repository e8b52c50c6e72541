"""Markdown: CommonMark with GitHub extensions, front matter and notes."""

"""The reader of Markdown: CommonMark with GitHub extensions, front matter and note syntax."""

"""Analysis of a string: visible text, tokens, sentences, language, where it may be cut, and its search terms."""

"""What can be said of a string: characters, tokens, sentences, language, where it may be cut, and its search terms."""

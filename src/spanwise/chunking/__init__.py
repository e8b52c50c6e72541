"""From a Document to settled chunks: a strategy plans cores, `settle` attaches context and overlap."""

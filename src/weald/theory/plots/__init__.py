"""Pictures of results, a module per family; nothing is computed here."""

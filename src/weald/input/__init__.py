"""The only reading of what users give: tables, targets, weights, and what comes out of pickles."""

"""How fits are driven: rounds, callbacks, early stopping, warm starts and Ctrl-C."""

"""What drives a fit: rounds, early stopping, callbacks, progress."""

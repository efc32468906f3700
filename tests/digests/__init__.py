"""Digests of fitted models, recorded once: a change that should change no model is held to them."""

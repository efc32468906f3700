"""Columns of many categories: what they cost, and what they give beside integer codes."""

"""Super learner and blending."""

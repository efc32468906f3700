"""The super learner beside its own candidates, other libraries and AutoGluon on real tables."""

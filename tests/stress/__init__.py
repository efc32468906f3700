"""Random cases by the thousand: any table, any estimator, any settings, and what must hold."""

"""The closing table: for every learner its twin, its tests, its mutants and the published results it met."""

"""The zoo: small real trainings, each with one fault or none, and what is left of them varied."""

"""What must hold for every input: native equals reference, estimates, invariance."""

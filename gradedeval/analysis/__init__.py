"""What is asked of many runs: which is better, is it good enough, do measures agree, which parameter fits."""

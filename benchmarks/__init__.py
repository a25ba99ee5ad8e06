"""What does Benzer cost, and how good are its answers, beside others on the same machine?"""

"""The tests of Benzer: a plain reference, golden values, properties and stories."""

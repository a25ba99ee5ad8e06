//! Constants and mixers of all hashes.
//!
//! The constants are the fractions of irrational numbers, to 64 bits, so that nobody can have chosen them: the golden
//! ratio and the square roots of the primes 2, 3 and 7. All arithmetic is modulo 2^64 (or 2^32).

/// 2^64 divided by the golden ratio.
pub const K1: u64 = 0x9E37_79B9_7F4A_7C15;
/// Fraction of the square root of 2.
pub const K2: u64 = 0x6A09_E667_F3BC_C909;
/// Fraction of the square root of 3.
pub const K3: u64 = 0xBB67_AE85_84CA_A73B;
/// Fraction of the square root of 7; its last bit is odd, so multiplying by it can be undone.
pub const K4: u64 = 0xA54F_F53A_5F1D_36F1;

/// The two halves of the 128-bit product of `x` and `y`, combined by exclusive or.
#[inline(always)]
pub fn mum(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    product as u64 ^ (product >> 64) as u64
}

/// Spreads the bits of a sum or product over the whole word; a bijection, so it adds no collision.
#[inline(always)]
pub fn finish(s: u64) -> u64 {
    let s = (s ^ s >> 32).wrapping_mul(K2);
    s ^ s >> 29
}

/// A bijection of 32 bits with low bias (lowbias32 of Chris Wellons' hash prospector).
#[inline(always)]
pub fn mix32(x: u32) -> u32 {
    finish32(mix32_almost(x))
}

/// The last step of [`mix32`]; it changes the low half only.
#[inline(always)]
pub fn finish32(almost: u32) -> u32 {
    almost ^ almost >> 16
}

/// [`mix32`] without its last step.
#[inline(always)]
pub fn mix32_almost(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x7FEB_352D);
    (x ^ x >> 15).wrapping_mul(0x846C_A68B)
}

/// A bijection of 64 bits that a key chooses: every hash passes one before it is sketched, so that another seed makes
/// an independent sketch.
#[derive(Clone, Copy, Debug)]
pub struct Mixer {
    key: u64,
}

impl Mixer {
    /// The mixer of a key.
    pub fn new(key: u64) -> Self {
        Mixer { key }
    }

    /// The key.
    #[inline(always)]
    pub fn key(self) -> u64 {
        self.key
    }

    /// Mixes one hash.
    #[inline(always)]
    pub fn mix(self, hash: u64) -> u64 {
        let z = hash ^ self.key;
        let z = (z ^ z >> 32).wrapping_mul(K4);
        z ^ z >> 29
    }
}

/// The SplitMix64 generator (Steele, Lea, Flood 2014): turns one seed into all the random numbers a sketch needs.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator that starts at `seed`; equal seeds give equal numbers.
    pub fn new(seed: u64) -> Self {
        SplitMix64 { state: seed }
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(K1);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn splitmix64_gives_the_published_sequence_for_seed_1234567() {
        let mut generator = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| generator.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn constants_are_what_they_claim_to_be() {
        for (constant, square) in [(K2, 2_u128), (K3, 3), (K4, 7)] {
            let distance = fraction_of_root(square).abs_diff(constant);
            assert!(distance <= 1, "square root of {square}: off by {distance}");
        }
        let golden = u128::from(K1);
        assert!(((golden * golden) >> 64).abs_diff((1 << 64) - golden) <= 3, "1/phi squared is 1 - 1/phi");
    }

    /// The 64 leading bits of the fraction of the root, found bit by bit.
    fn fraction_of_root(square: u128) -> u64 {
        let whole = (1..).take_while(|w| w * w <= square).last().unwrap_or(0);
        let below = |fraction: u64| {
            // (whole + f)^2 < square  <=>  2 whole f + f^2 < square - whole^2, with f in units of 2^-64
            let f = u128::from(fraction);
            2 * whole * f + ((f * f) >> 64) < (square - whole * whole) << 64
        };
        let bit = |found: u64, shift: u32| {
            if below(found | 1 << shift) { found | 1 << shift } else { found }
        };
        (0..64).rev().fold(0, bit)
    }

    #[test]
    fn mixers_keep_distinct_inputs_distinct() {
        let mixed: HashSet<u32> = (0..100_000).map(mix32).collect();
        let halves: HashSet<u32> = (0..1_000).map(|s| (finish(s << 32) >> 32) as u32).collect();
        assert_eq!((mixed.len(), halves.len()), (100_000, 1_000));
    }
}

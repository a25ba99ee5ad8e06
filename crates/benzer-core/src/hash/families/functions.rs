//! One function of each family, applied to one element.
//!
//! A function maps the 64-bit numbers to those of `bits` bits. Everything here is small and inlined, so that the loops
//! over elements are compiled for the instructions of their caller.

use crate::hash::strings::{murmur3_32, murmur3_128};

/// One hash function.
pub trait Function: Clone + Sync {
    /// The value of `x`, below 2^[`Function::bits`].
    fn value(&self, x: u64) -> u64;

    /// The number of bits of a value.
    fn bits(&self) -> u32;

    /// The value of `x` in 32 bits: the high ones, where there are more.
    #[inline(always)]
    fn high(&self, x: u64) -> u32 {
        (self.value(x) >> self.bits().saturating_sub(32)) as u32
    }
}

/// The upper half of `a x + b` modulo 2^64, `a` odd.
#[derive(Clone, Copy, Debug)]
pub struct MultiplyShift {
    pub(super) multiplier: u64,
    pub(super) addend: u64,
}

impl Function for MultiplyShift {
    #[inline(always)]
    fn value(&self, x: u64) -> u64 {
        self.multiplier.wrapping_mul(x).wrapping_add(self.addend) >> 32
    }

    #[inline(always)]
    fn bits(&self) -> u32 {
        32
    }
}

/// `a x + b` modulo 2^32 of the low 32 bits of `x`, less its lowest `drop` bits.
#[derive(Clone, Copy, Debug)]
pub struct Word32 {
    pub(super) multiplier: u32,
    pub(super) addend: u32,
    pub(super) drop: u32,
}

impl Function for Word32 {
    #[inline(always)]
    fn value(&self, x: u64) -> u64 {
        u64::from(self.multiplier.wrapping_mul(x as u32).wrapping_add(self.addend) >> self.drop)
    }

    #[inline(always)]
    fn bits(&self) -> u32 {
        32 - self.drop
    }
}

/// The Mersenne prime 2^61 - 1, modulo which a product is reduced by one shift and one sum.
pub const MERSENNE: u64 = (1 << 61) - 1;

/// `a x + b` modulo 2^61 - 1.
#[derive(Clone, Copy, Debug)]
pub struct Mersenne61 {
    pub(super) multiplier: u64,
    pub(super) addend: u64,
}

impl Function for Mersenne61 {
    #[inline(always)]
    fn value(&self, x: u64) -> u64 {
        let x = below_mersenne((x & MERSENNE) + (x >> 61));
        // All three are below p, so the sum is at most (p - 1) p, and its two parts add up to less than 2 p.
        let sum = u128::from(self.multiplier) * u128::from(x) + u128::from(self.addend);
        below_mersenne((sum as u64 & MERSENNE) + (sum >> 61) as u64)
    }

    #[inline(always)]
    fn bits(&self) -> u32 {
        61
    }
}

/// A number below 2 p, reduced: the difference of a smaller one wraps round to a larger. (A branch would be taken half
/// of the time, at random.)
#[inline(always)]
fn below_mersenne(x: u64) -> u64 {
    x.min(x.wrapping_sub(MERSENNE))
}

/// `a x + b` modulo any p from 2 to 2^64 - 1; `a` and `b` are below p.
#[derive(Clone, Copy, Debug)]
pub struct Modular {
    pub(super) modulus: u64,
    pub(super) multiplier: u64,
    pub(super) addend: u64,
}

impl Function for Modular {
    #[inline(always)]
    fn value(&self, x: u64) -> u64 {
        let sum = u128::from(self.multiplier) * u128::from(x) + u128::from(self.addend);
        (sum % u128::from(self.modulus)) as u64
    }

    #[inline(always)]
    fn bits(&self) -> u32 {
        64 - (self.modulus - 1).leading_zeros()
    }
}

/// MurmurHash3, 32 bits, of the 8 bytes of `x`, the least first.
#[derive(Clone, Copy, Debug)]
pub struct Murmur3x32 {
    pub(super) seed: u32,
}

impl Function for Murmur3x32 {
    #[inline(always)]
    fn value(&self, x: u64) -> u64 {
        u64::from(murmur3_32(&x.to_le_bytes(), self.seed))
    }

    #[inline(always)]
    fn bits(&self) -> u32 {
        32
    }
}

/// The first half of MurmurHash3, 128 bits, of the 8 bytes of `x`, the least first.
#[derive(Clone, Copy, Debug)]
pub struct Murmur3x128 {
    pub(super) seed: u32,
}

impl Function for Murmur3x128 {
    #[inline(always)]
    fn value(&self, x: u64) -> u64 {
        murmur3_128(&x.to_le_bytes(), self.seed)[0]
    }

    #[inline(always)]
    fn bits(&self) -> u32 {
        64
    }
}

/// XXH3 of the 8 bytes of `x`, the least first. The seed is kept as what the bytes are combined with.
#[derive(Clone, Copy, Debug)]
pub struct Xxh3 {
    key: u64,
}

impl Xxh3 {
    /// Words 1 and 2 of XXH3's secret, combined.
    const SECRET: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;

    pub(super) fn new(seed: u64) -> Self {
        let swapped = u64::from((seed as u32).swap_bytes()) << 32;
        Xxh3 { key: Self::SECRET.wrapping_sub(seed ^ swapped) }
    }
}

impl Function for Xxh3 {
    #[inline(always)]
    fn value(&self, x: u64) -> u64 {
        const PRIME: u64 = 0x9FB2_1C65_1E98_DF25;
        let h = x.rotate_left(32) ^ self.key;
        let h = (h ^ h.rotate_left(49) ^ h.rotate_left(24)).wrapping_mul(PRIME);
        let h = (h ^ (h >> 35).wrapping_add(8)).wrapping_mul(PRIME);
        h ^ h >> 28
    }

    #[inline(always)]
    fn bits(&self) -> u32 {
        64
    }
}

/// One random word for each value of each byte of `x`, combined by exclusive or.
#[derive(Clone, Debug)]
pub struct Tabulation {
    pub(super) tables: Box<[[u64; 256]; 8]>,
}

impl Function for Tabulation {
    #[inline(always)]
    fn value(&self, x: u64) -> u64 {
        let words = self.tables.iter().zip(x.to_le_bytes()).map(|(table, byte)| table[usize::from(byte)]);
        words.fold(0, |h, word| h ^ word)
    }

    #[inline(always)]
    fn bits(&self) -> u32 {
        64
    }
}

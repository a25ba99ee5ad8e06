//! Published families of hash functions, and the functions that a seed selects.
//!
//! | name | function of a 64-bit `x` | bits | drawn from the seed, for each function |
//! |---|---|---|---|
//! | `mixed` | a mixer, then as `multiply_shift` | 32 | odd `a`, `b` of 64 bits, after one number for the mixer |
//! | `modular` | `a x + b` mod p, p = 2^61 - 1 | 61 | `a` from 1 to p - 1, `b` from 0 to p - 1 |
//! | `multiplicative` | `a x` mod 2^32 of the low 32 bits | 32 | odd `a` of 32 bits |
//! | `multiply_shift` | upper half of `a x + b` mod 2^64 | 32 | odd `a`, `b` of 64 bits |
//! | `murmur3_32` | MurmurHash3, 32 bits, of the 8 bytes | 32 | a seed of 32 bits |
//! | `murmur3_128` | first half of MurmurHash3, 128 bits | 64 | a seed of 32 bits |
//! | `xxh3` | XXH3 of the 8 bytes | 64 | a seed of 64 bits |
//! | `tabulation` | a random word for each byte, combined by exclusive or | 64 | 8 × 256 words of 64 bits |
//! | `linear` | `a x + b` mod 2^32 of the low 32 bits | 32 | `a`, `b` by Java's generator |
//! | `universal` | `a x + b` mod 2^32 of the low 32 bits, its highest bits | 32 or fewer | odd `a`, `b` of 32 bits |
//!
//! The numbers come from [`SplitMix64`] unless said; those of 32 bits are its higher halves. The first functions of a
//! longer draw are those of a shorter one. `benzer.experiments.hashing` describes the uses of each family.

mod functions;
mod java;

#[cfg(test)]
mod tests;

pub use functions::{Function, MERSENNE};
pub use java::JavaRandom;

use super::mix::{Mixer, SplitMix64};
use functions::{Mersenne61, Modular, MultiplyShift, Murmur3x32, Murmur3x128, Tabulation, Word32, Xxh3};

/// A family of hash functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A strong mixer before multiply-shift.
    Mixed,
    /// Linear functions modulo a prime (L. Carter, M. Wegman 1979).
    Modular,
    /// Knuth's multiplicative hashing.
    Multiplicative,
    /// Multiply-shift (M. Dietzfelbinger and others 1997).
    MultiplyShift,
    /// MurmurHash3, 32 bits (A. Appleby 2011).
    Murmur3x32,
    /// MurmurHash3, 128 bits.
    Murmur3x128,
    /// XXH3, 64 bits (Y. Collet 2019).
    Xxh3,
    /// Simple tabulation (A. Zobrist 1970; M. Pătraşcu, M. Thorup 2012).
    Tabulation,
    /// Linear functions of 32 bits from Java's generator (S. Hanna, A. Hunt 2015).
    Linear,
    /// Universal hashing of 32-bit numbers by multiplication and shift.
    Universal,
}

/// The two numbers of a function `a x + b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// The multiplier `a`.
    pub multiplier: u64,
    /// The addend `b`.
    pub addend: u64,
}

impl Family {
    /// All families, the default first.
    pub const ALL: [Family; 10] = [
        Family::Mixed,
        Family::Modular,
        Family::Multiplicative,
        Family::MultiplyShift,
        Family::Murmur3x32,
        Family::Murmur3x128,
        Family::Xxh3,
        Family::Tabulation,
        Family::Linear,
        Family::Universal,
    ];

    /// The name used in settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            Family::Mixed => "mixed",
            Family::Modular => "modular",
            Family::Multiplicative => "multiplicative",
            Family::MultiplyShift => "multiply_shift",
            Family::Murmur3x32 => "murmur3_32",
            Family::Murmur3x128 => "murmur3_128",
            Family::Xxh3 => "xxh3",
            Family::Tabulation => "tabulation",
            Family::Linear => "linear",
            Family::Universal => "universal",
        }
    }

    /// The family of that name.
    pub fn from_name(name: &str) -> Option<Family> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// What `range` means where none is given: a modulus (`Modular`), else a number of bits.
    pub fn default_range(self) -> u64 {
        if self == Family::Modular { MERSENNE } else { 32 }
    }

    /// The numbers of `count` functions `a x + b`; `None` for the families that are made otherwise.
    ///
    /// `range` is the modulus of [`Family::Modular`], at least 2; the other families ignore it.
    pub fn affine(self, range: u64, count: usize, seed: u64) -> Option<Vec<Affine>> {
        let mut random = SplitMix64::new(seed);
        let mut java = JavaRandom::new(seed);
        if self == Family::Mixed {
            random.next_u64();
        }
        let half = |random: &mut SplitMix64| random.next_u64() >> 32;
        let mut one = || match self {
            Family::Mixed | Family::MultiplyShift => Some((random.next_u64() | 1, random.next_u64())),
            Family::Modular => Some((below(&mut random, 1, range), below(&mut random, 0, range))),
            Family::Multiplicative => Some((half(&mut random) | 1, 0)),
            Family::Universal => Some((half(&mut random) | 1, half(&mut random))),
            Family::Linear => Some((u64::from(java.next_u32()), u64::from(java.next_u32()))),
            Family::Murmur3x32 | Family::Murmur3x128 | Family::Xxh3 | Family::Tabulation => None,
        };
        (0..count).map(|_| one().map(|(multiplier, addend)| Affine { multiplier, addend })).collect()
    }

    /// `count` functions of the family.
    ///
    /// `range`: the modulus of `Modular`, from 2; the bits of `Multiplicative` and `Universal`, from 1 to 32; the
    /// other families ignore it.
    pub fn draw(self, range: u64, count: usize, seed: u64) -> Functions {
        let mut random = SplitMix64::new(seed);
        match self {
            Family::Mixed => {
                let mixer = Mixer::new(random.next_u64());
                Functions::Mixed(mixer, self.multiply_shifts(count, seed))
            }
            Family::Murmur3x32 => {
                let seeds = (0..count).map(|_| (random.next_u64() >> 32) as u32);
                Functions::Murmur3x32(seeds.map(|seed| Murmur3x32 { seed }).collect())
            }
            Family::Murmur3x128 => {
                let seeds = (0..count).map(|_| (random.next_u64() >> 32) as u32);
                Functions::Murmur3x128(seeds.map(|seed| Murmur3x128 { seed }).collect())
            }
            Family::Xxh3 => Functions::Xxh3((0..count).map(|_| Xxh3::new(random.next_u64())).collect()),
            Family::Tabulation => Functions::Tabulation((0..count).map(|_| tabulation(&mut random)).collect()),
            _ => self.of(range, &self.affine(range, count, seed).unwrap_or_default()),
        }
    }

    /// The functions with these numbers, of a family of functions `a x + b` without mixer; `range` as in
    /// [`Family::draw`]. Numbers are taken modulo the family's own word or modulus.
    ///
    /// # Panics
    /// Where the family has no such functions.
    pub fn of(self, range: u64, numbers: &[Affine]) -> Functions {
        match self {
            Family::Modular if range == MERSENNE => Functions::Mersenne(numbers.iter().map(mersenne).collect()),
            Family::Modular => Functions::Modular(numbers.iter().map(|n| modular(range, n)).collect()),
            Family::MultiplyShift => Functions::MultiplyShift(numbers.iter().map(multiply_shift).collect()),
            Family::Linear => Functions::Word32(numbers.iter().map(|n| word(32, n)).collect()),
            Family::Multiplicative | Family::Universal => {
                Functions::Word32(numbers.iter().map(|n| word(range as u32, n)).collect())
            }
            _ => panic!("the functions of the family {} are no a x + b", self.name()),
        }
    }

    fn multiply_shifts(self, count: usize, seed: u64) -> Vec<MultiplyShift> {
        self.affine(0, count, seed).unwrap_or_default().iter().map(multiply_shift).collect()
    }
}

/// A uniform random number from `least` to `range` - 1: numbers of as many bits are drawn until one fits.
fn below(random: &mut SplitMix64, least: u64, range: u64) -> u64 {
    let unused = (range - 1).leading_zeros();
    loop {
        let drawn = random.next_u64() >> unused;
        if (least..range).contains(&drawn) {
            return drawn;
        }
    }
}

fn multiply_shift(numbers: &Affine) -> MultiplyShift {
    MultiplyShift { multiplier: numbers.multiplier, addend: numbers.addend }
}

fn word(bits: u32, numbers: &Affine) -> Word32 {
    Word32 { multiplier: numbers.multiplier as u32, addend: numbers.addend as u32, drop: 32 - bits }
}

fn mersenne(numbers: &Affine) -> Mersenne61 {
    Mersenne61 { multiplier: numbers.multiplier % MERSENNE, addend: numbers.addend % MERSENNE }
}

fn modular(modulus: u64, numbers: &Affine) -> Modular {
    Modular { modulus, multiplier: numbers.multiplier % modulus, addend: numbers.addend % modulus }
}

fn tabulation(random: &mut SplitMix64) -> Tabulation {
    let words: Box<[[u64; 256]]> = (0..8).map(|_| std::array::from_fn(|_| random.next_u64())).collect();
    match words.try_into() {
        Ok(tables) => Tabulation { tables },
        Err(_) => unreachable!("eight tables were made"),
    }
}

/// Functions of one family, ready to be evaluated.
#[derive(Clone, Debug)]
pub enum Functions {
    /// Of [`Family::Mixed`]; they take elements that the mixer has mixed.
    Mixed(Mixer, Vec<MultiplyShift>),
    /// Of [`Family::MultiplyShift`].
    MultiplyShift(Vec<MultiplyShift>),
    /// Of [`Family::Modular`], modulo 2^61 - 1.
    Mersenne(Vec<Mersenne61>),
    /// Of [`Family::Modular`], modulo any other number.
    Modular(Vec<Modular>),
    /// Of [`Family::Multiplicative`], [`Family::Linear`] and [`Family::Universal`].
    Word32(Vec<Word32>),
    /// Of [`Family::Murmur3x32`].
    Murmur3x32(Vec<Murmur3x32>),
    /// Of [`Family::Murmur3x128`].
    Murmur3x128(Vec<Murmur3x128>),
    /// Of [`Family::Xxh3`].
    Xxh3(Vec<Xxh3>),
    /// Of [`Family::Tabulation`]: 16 KiB each.
    Tabulation(Vec<Tabulation>),
}

/// Work on all functions of whatever type they are.
pub trait Visitor {
    /// Its result.
    type Output;
    /// Does the work; must be `#[inline(always)]` to be compiled for the instructions of the caller.
    fn visit<F: Function>(self, functions: &[F]) -> Self::Output;
}

impl Functions {
    /// The mixer that is applied to elements before the functions.
    pub fn mixer(&self) -> Option<Mixer> {
        match self {
            Functions::Mixed(mixer, _) => Some(*mixer),
            _ => None,
        }
    }

    /// Hands the functions to `visitor`.
    #[inline(always)]
    pub fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
        match self {
            Functions::Mixed(_, functions) | Functions::MultiplyShift(functions) => visitor.visit(functions),
            Functions::Mersenne(functions) => visitor.visit(functions),
            Functions::Modular(functions) => visitor.visit(functions),
            Functions::Word32(functions) => visitor.visit(functions),
            Functions::Murmur3x32(functions) => visitor.visit(functions),
            Functions::Murmur3x128(functions) => visitor.visit(functions),
            Functions::Xxh3(functions) => visitor.visit(functions),
            Functions::Tabulation(functions) => visitor.visit(functions),
        }
    }
}

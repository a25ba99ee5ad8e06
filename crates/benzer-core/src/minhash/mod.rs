//! Signatures of sets of shingle hashes.
//!
//! | file | algorithm | best for |
//! |---|---|---|
//! | `fast` | Fast Similarity Sketching (Dahlgaard, Langhede, Houen, Thorup; arXiv 1704.04370) | everything: the default |
//! | `kmins` | one minimum per random function (Broder 1997), of any family of [`crate::hash::families`] | the reference |
//! | `bottomk` | the smallest values of one permutation (Broder 1997) | estimates; it has no bands |
//!
//! [`merge`] and [`estimate`] compare signatures. All algorithms are order-free, do not mind repeated hashes, and merge
//! exactly: the merge of two signatures is the signature of the union. Every instruction set gives the same bits.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bottomk;
mod compare;
mod fast;
mod kmins;
mod plain;

#[cfg(test)]
mod accuracy_tests;
#[cfg(test)]
mod tests;

pub use compare::{estimate, merge};

use crate::hash::families::{Family, Functions};
use crate::hash::mix::{Mixer, SplitMix64, finish};
use crate::isa::{self, Isa, Level};

/// The value of a slot that nothing has filled; only the signature of the empty set is made of it
/// (and the end of a bottom-k signature of fewer than `num_hashes` elements).
pub const EMPTY: u32 = u32::MAX;

/// The longest signature.
pub const MAX_HASHES: usize = 65_535;

/// A way of making signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Fast Similarity Sketching.
    Fast,
    /// One minimum per permutation.
    KMins,
    /// The smallest values of one permutation.
    BottomK,
}

impl Algorithm {
    /// All algorithms, the default first.
    pub const ALL: [Algorithm; 3] = [Algorithm::Fast, Algorithm::KMins, Algorithm::BottomK];

    /// The name used in settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Fast => "fast",
            Algorithm::KMins => "kmins",
            Algorithm::BottomK => "bottomk",
        }
    }

    /// The algorithm of that name.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

/// Two sums over the hashes of a document, repeats included: together a 128-bit hash of the multiset of its shingles.
/// Documents of unequal sums differ. Equal sums only propose that documents are identical: by chance others have them
/// with a probability of about 2^-128, but anyone who knows the seed can forge them. `Corpus::identical` verifies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The sum of the hashes.
    pub sum: u64,
    /// The sum of the hashes after the seeded mixer; it depends on the seed.
    pub mixed: u64,
}

impl Content {
    #[inline(always)]
    fn add(&mut self, hash: u64, mixed: u64) {
        self.sum = self.sum.wrapping_add(hash);
        self.mixed = self.mixed.wrapping_add(mixed);
    }

    /// Takes back `times` additions of `hash`.
    #[inline(always)]
    fn subtract(&mut self, hash: u64, mixer: Mixer, times: usize) {
        self.sum = self.sum.wrapping_sub(hash.wrapping_mul(times as u64));
        self.mixed = self.mixed.wrapping_sub(mixer.mix(hash).wrapping_mul(times as u64));
    }
}

impl std::ops::AddAssign for Content {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.add(other.sum, other.mixed);
    }
}

/// Makes signatures: an algorithm with its length and its random constants. Immutable, so threads may share it.
///
/// ```
/// # use benzer_core::{isa, minhash::{Algorithm, Scratch, Sketcher, estimate}};
/// let sketcher = Sketcher::new(Algorithm::Fast, 128, 0).unwrap();
/// let (mut a, mut b) = ([0; 128], [0; 128]);
/// let mut scratch = Scratch::default();
/// sketcher.sketch(isa::current(), &[1, 2, 3], &mut scratch, &mut a);
/// sketcher.sketch(isa::current(), &[3, 2, 1, 1], &mut scratch, &mut b);
/// assert_eq!(estimate(Algorithm::Fast, &a, &b), 1.0);
/// ```
#[derive(Clone, Debug)]
pub struct Sketcher {
    algorithm: Algorithm,
    num_hashes: usize,
    mixer: Mixer,
    functions: Functions,
    drawn_from: (Family, u64),
}

/// Sketchers of the same settings make the same signatures.
impl PartialEq for Sketcher {
    fn eq(&self, other: &Self) -> bool {
        let settings = |of: &Self| (of.algorithm, of.num_hashes, of.drawn_from);
        settings(self) == settings(other)
    }
}

impl Sketcher {
    /// A sketcher with the default family of hash functions; fails where `num_hashes` is not in 1..=65535.
    pub fn new(algorithm: Algorithm, num_hashes: usize, seed: u64) -> Result<Self, String> {
        Self::with_family(algorithm, Family::Mixed, num_hashes, seed)
    }

    /// A sketcher with a family of hash functions; fails where `num_hashes` is not in 1..=65535, and where an algorithm
    /// other than `KMins` is given another family than `Mixed`.
    pub fn with_family(algorithm: Algorithm, family: Family, num_hashes: usize, seed: u64) -> Result<Self, String> {
        if !(1..=MAX_HASHES).contains(&num_hashes) {
            return Err(format!("num_hashes must be from 1 to {MAX_HASHES}, got {num_hashes}: try 128"));
        }
        if algorithm != Algorithm::KMins && family != Family::Mixed {
            let (algorithm, family) = (algorithm.name(), family.name());
            return Err(format!(
                "minhash {algorithm} has hash functions of its own, got family '{family}': choose kmins, or the family 'mixed'"
            ));
        }
        let mixer = Mixer::new(SplitMix64::new(seed).next_u64());
        let drawn = if algorithm == Algorithm::KMins { num_hashes } else { 0 };
        let functions = family.draw(family.default_range(), drawn, seed);
        Ok(Sketcher { algorithm, num_hashes, mixer, functions, drawn_from: (family, seed) })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The number of values in a signature.
    pub fn num_hashes(&self) -> usize {
        self.num_hashes
    }

    /// Writes the signature of the set of `hashes` to `out`, and returns the sums over the hashes.
    ///
    /// An `isa` which this machine lacks is replaced by the portable one; the result is the same.
    ///
    /// # Panics
    /// Where `out` is not `num_hashes` long.
    pub fn sketch(&self, isa: Isa, hashes: &[u64], scratch: &mut Scratch, out: &mut [u32]) -> Content {
        isa::run_at(isa.min(Isa::detect()), One { sketcher: self, hashes, scratch, out })
    }

    /// [`Sketcher::sketch`] for a caller that runs at level `L` already: it becomes part of the caller, with no
    /// dispatch per document.
    ///
    /// # Safety
    /// The machine has the instructions of `L`. (For speed, call it from an [`isa::Task`].)
    ///
    /// # Panics
    /// Where `out` is not `num_hashes` long.
    #[inline(always)]
    pub unsafe fn sketch_level<L: Level>(&self, hashes: &[u64], scratch: &mut Scratch, out: &mut [u32]) -> Content {
        // SAFETY: the caller vouches for L.
        unsafe { self.sketch_elements::<L, Hashes>(hashes, scratch, out) }
    }

    /// [`Sketcher::sketch_level`] for integers that are not hashes, e.g. consecutive numbers.
    ///
    /// `Fast` and `BottomK` rely on well-mixed hashes, so each integer passes [`finish`] first; otherwise estimates are
    /// biased. The functions of `KMins` take integers as they are.
    ///
    /// # Safety
    /// As for [`Sketcher::sketch_level`].
    ///
    /// # Panics
    /// Where `out` is not `num_hashes` long.
    #[inline(always)]
    pub unsafe fn sketch_integers_level<L: Level>(
        &self, integers: &[u64], scratch: &mut Scratch, out: &mut [u32],
    ) -> Content {
        // SAFETY: the caller vouches for L.
        unsafe { self.sketch_elements::<L, Integers>(integers, scratch, out) }
    }

    /// # Safety
    /// The machine has the instructions of `L`.
    #[inline(always)]
    unsafe fn sketch_elements<L: Level, I: Input>(
        &self, elements: &[u64], scratch: &mut Scratch, out: &mut [u32],
    ) -> Content {
        assert_eq!(out.len(), self.num_hashes, "a signature has num_hashes values");
        match self.algorithm {
            // SAFETY: the caller vouches for L, here and below.
            Algorithm::Fast => unsafe { fast::sketch::<L, I>(self.mixer, elements, scratch, out) },
            Algorithm::KMins => kmins::sketch(self.mixer, &self.functions, elements, scratch, out),
            // SAFETY: as above.
            Algorithm::BottomK => unsafe { bottomk::sketch::<L, I>(self.mixer, elements, scratch, out) },
        }
    }
}

/// How the elements of a set become well-mixed hashes.
trait Input {
    /// The hash of an element.
    fn hash(element: u64) -> u64;

    /// The hashes of a block of elements.
    #[inline(always)]
    fn hashes(elements: &[u64; LANES]) -> [u64; LANES] {
        let mut hashes = *elements;
        for hash in &mut hashes {
            *hash = Self::hash(*hash);
        }
        hashes
    }
}

/// Elements that are hashes already.
struct Hashes;

impl Input for Hashes {
    #[inline(always)]
    fn hash(element: u64) -> u64 {
        element
    }
}

/// Elements that may be any integers.
struct Integers;

impl Input for Integers {
    #[inline(always)]
    fn hash(element: u64) -> u64 {
        finish(element)
    }
}

/// One signature, as a task.
struct One<'a> {
    sketcher: &'a Sketcher,
    hashes: &'a [u64],
    scratch: &'a mut Scratch,
    out: &'a mut [u32],
}

impl isa::Task for One<'_> {
    type Output = Content;

    #[inline(always)]
    fn run<L: Level>(self) -> Content {
        // SAFETY: `isa::run_at` runs a task only at a level the machine has.
        unsafe { self.sketcher.sketch_level::<L>(self.hashes, self.scratch, self.out) }
    }
}

/// Elements handled together: the loops run over whole blocks of this many, so that no level has a slow remainder.
const LANES: usize = 16;

/// Buffers that grow to the largest set met and are used again. Make one per thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Hashes as the functions of k-mins take them, 64 bits.
    mixed: Vec<u64>,
    /// Mixed hashes, low 32 bits (fast) or high ones (bottomk).
    values: Vec<u32>,
    /// The elements that may hit an empty slot (fast), or the values of a block (bottomk).
    kept: Vec<u32>,
    /// The slots that are empty.
    list: Vec<u32>,
}

/// Lengthens `buffer` to `len` if it is shorter.
fn make_room<T: Copy + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len.next_power_of_two(), T::default());
    }
}

/// Fills `values` from `count` to the end of its block with copies of the last value, which change no minimum; returns
/// the whole blocks.
#[inline(always)]
fn whole_blocks<T: Copy>(values: &mut [T], count: usize) -> &[[T; LANES]] {
    let used = count.next_multiple_of(LANES);
    let last = values[count - 1];
    values[count..used].fill(last);
    values[..used].as_chunks().0
}

//! The order of the elements of all sets.
//!
//! Rare elements come first, so that few sets share a first element: the order is by the frequency of the element,
//! then by the element itself. Frequencies are counted in a table of hashed slots, without a dictionary. Elements in
//! the same slot are counted together, which only costs some speed: any order is correct if it is the same for all
//! sets.

use crate::hash::mix::K4;
use crate::jaccard::Sets;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// The bits of the largest table: 64 MB.
const MOST_BITS: u32 = 24;

/// Elements that one thread counts at a time.
const PART: usize = 1 << 16;

/// How often each element occurs, about.
pub struct Order {
    counts: Vec<u32>,
    shift: u32,
}

impl Order {
    /// The order of the elements of `sets`.
    pub fn new(sets: &Sets) -> Order {
        let bits = (2 * sets.hashes.len() as u64 + 1).ilog2().clamp(10, MOST_BITS);
        let counts: Vec<AtomicU32> = (0..1 << bits).map(|_| AtomicU32::new(0)).collect();
        let shift = 64 - bits;
        sets.hashes.par_chunks(PART).for_each(|part| {
            for &element in part {
                counts[place(element, shift)].fetch_add(1, Ordering::Relaxed);
            }
        });
        Order { counts: counts.into_iter().map(AtomicU32::into_inner).collect(), shift }
    }

    /// The first `most` elements of a set in the order, into `first` with their counts, without those that occur
    /// `alone` times or less; says how many these are. They come before all others, so they keep their places.
    #[inline(always)]
    pub fn first(&self, set: &[u64], most: usize, alone: u32, first: &mut Vec<(u32, u64)>) -> usize {
        // Without a branch, so that many places are on their way from memory at a time.
        first.resize(set.len().max(first.len()), (0, 0));
        let mut kept = 0;
        for &element in set {
            let count = self.counts[place(element, self.shift)];
            first[kept] = (count, element);
            kept += usize::from(count > alone);
        }
        first.truncate(kept);
        let passed = set.len() - first.len();
        let wanted = most.saturating_sub(passed);
        if wanted < first.len() {
            if wanted > 0 {
                first.select_nth_unstable(wanted);
            }
            first.truncate(wanted);
        }
        first.sort_unstable();
        passed
    }
}

#[inline(always)]
fn place(element: u64, shift: u32) -> usize {
    // Elements may be small integers: the product spreads them.
    (element.wrapping_mul(K4) >> shift) as usize
}

//! Candidate pairs: documents that share a band key share a bucket, and a bucket of up to `limit` documents proposes
//! all its pairs.
//!
//! A larger bucket would cost quadratic work. It is returned as a bucket ([`LargeBuckets`]), and its documents are
//! compared with the kept documents among them. A pair that shares a large bucket is never proposed, even if it
//! shares other buckets, so large families need linear memory.

mod keys;
mod large;
mod pairs;
pub mod parts;
mod repeats;
mod same;

pub use keys::Keys;
pub use large::{LargeBuckets, Memberships};
pub use same::representatives;

use crate::bands::NO_KEY;
use crate::watch;
use pairs::{PairSet, merge};
use rayon::prelude::*;
use repeats::{Finder, Part};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// In a bucket of more documents than this, a pair is first looked for in earlier bands: it is cheaper not to propose
/// it again than to drop it later.
const LOOKED_UP: usize = 8;

/// The number of earlier bands to search.
const EARLIER: usize = 16;

/// The pairs and large buckets that the join returns.
#[derive(Default)]
pub struct Candidates {
    /// Pairs of documents as `left << 32 | right`, the lower position left, in ascending order, each once.
    pub pairs: Vec<u64>,
    /// Buckets above the limit, whose pairs are not listed.
    pub large: LargeBuckets,
    /// The limit: the largest bucket that may have proposed all its pairs.
    pub limit: usize,
}

/// The largest bucket that proposes all its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A fixed number of documents.
    Fixed(usize),
    /// From 100 to 1,000, by the sizes of the buckets; see [`usual_limit`].
    Usual,
}

/// The minimum and the maximum of the usual limit.
pub const USUAL: [usize; 2] = [100, 1000];

/// Medium buckets may propose one pair for each document and band, up to so many pairs, and then one for four.
const PAIRS: u64 = 1_000_000;

/// The usual limit for buckets of these sizes: the largest of them up to 1,000, as long as all buckets of more than 100
/// documents up to it together have at most as many pairs as `entries` (documents times bands), and at most a million or
/// a quarter of `entries`, whichever is more.
///
/// So a collection with few families lists all their pairs, and one that consists of families takes linear time.
pub fn usual_limit(mut sizes: Vec<usize>, entries: usize) -> usize {
    sizes.retain(|size| (USUAL[0] + 1..=USUAL[1]).contains(size));
    sizes.sort_unstable();
    let mut left = (entries as u64).min(PAIRS.max(entries as u64 / 4));
    for same in sizes.chunk_by(|a, b| a == b) {
        let size = same[0] as u64;
        match left.checked_sub(size * (size - 1) / 2 * same.len() as u64) {
            Some(rest) => left = rest,
            None => return same[0] - 1,
        }
    }
    USUAL[1]
}

/// The input and the settings of the join.
pub struct Join<'a> {
    /// The band keys of all documents.
    pub keys: Keys<'a>,
    /// The largest bucket that proposes all its pairs.
    pub limit: Limit,
    /// The documents that take part; all if it is empty.
    pub taking_part: &'a [bool],
    /// The number of bands to process at the same time; 0 for the number of threads. The pairs do not depend on it. A
    /// band takes about 20 bytes per document if most keys occur once, and 60 if all documents share one; 8 less if
    /// the keys are stored by band.
    pub at_once: usize,
}

/// Working memory of a thread, allocated once, because new memory costs as much as the work done in it.
#[derive(Default)]
struct Desk {
    finder: Finder,
    turned: Vec<u64>,
}

/// Unused working memory.
#[derive(Default)]
struct Desks(Mutex<Vec<Desk>>);

impl Desks {
    fn with<T>(&self, work: impl FnOnce(&mut Desk) -> T) -> T {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = free().pop();
        let mut desk = taken.unwrap_or_default();
        let done = work(&mut desk);
        free().push(desk);
        done
    }
}

/// The pairs and large buckets of a share of the keys.
#[derive(Default)]
struct Proposed {
    pairs: PairSet,
    /// The band and key of each large bucket, with its documents.
    large: Vec<(usize, u64, Vec<u32>)>,
}

impl Join<'_> {
    /// All candidate pairs, and the large buckets.
    pub fn candidates(&self) -> Candidates {
        let (mut pairs, mut large) = self.proposed();
        let limit = match self.limit {
            Limit::Fixed(limit) => limit,
            Limit::Usual => {
                let sizes = large.iter().map(<[u32]>::len).collect();
                usual_limit(sizes, self.keys.documents() * self.keys.bands())
            }
        };
        let mut medium = PairSet::default();
        let mut larger = LargeBuckets::default();
        for bucket in large.iter() {
            watch::look();
            if bucket.len() <= limit {
                medium.all(bucket)
            } else {
                larger.push(bucket)
            }
            medium.settle();
        }
        large = larger;
        pairs = merge(pairs, medium.into_sorted());
        let memberships = Memberships::new(self.keys.documents(), &large);
        if !large.is_empty() {
            pairs.retain(|&pair| !memberships.share((pair >> 32) as u32, pair as u32));
        }
        Candidates { pairs, large, limit }
    }

    /// The minimum of the limit.
    fn least_limit(&self) -> usize {
        match self.limit {
            Limit::Fixed(limit) => limit,
            Limit::Usual => USUAL[0],
        }
    }

    /// The pairs of all buckets up to the least limit, and the larger buckets in the order of band and key.
    fn proposed(&self) -> (Vec<u64>, LargeBuckets) {
        let (bands, threads) = (self.keys.bands(), rayon::current_num_threads());
        let at_once = if self.at_once == 0 { bands } else { self.at_once.min(bands) }.max(1);
        let width = self.keys.together().min(at_once).min(bands.div_ceil(threads)).max(1);
        let groups = if at_once == bands { bands.div_ceil(width) } else { at_once / width }.max(1);
        let parts = threads.div_ceil(groups);
        let (mut pairs, mut large) = (Vec::new(), Vec::new());
        let desks = Desks::default();
        watch::begin(bands * parts);
        for first in (0..bands).step_by(groups * width) {
            let after = bands.min(first + groups * width);
            let shares = (first..after).step_by(width).flat_map(|start| {
                let bands = start..after.min(start + width);
                (0..parts).map(move |number| (bands.clone(), Part { number, of: parts }))
            });
            let shares: Vec<_> = shares.collect();
            let proposed =
                shares.into_par_iter().map(|(bands, part)| desks.with(|desk| self.propose(bands, part, desk)));
            for mut one in proposed.collect::<Vec<_>>() {
                pairs = merge(pairs, std::mem::take(&mut one.pairs).into_sorted());
                large.append(&mut one.large);
            }
        }
        large.sort_unstable_by_key(|&(band, key, _)| (band, key));
        let mut buckets = LargeBuckets::default();
        large.into_iter().for_each(|(_, _, documents)| buckets.push(&documents));
        (pairs, buckets)
    }

    /// The pairs and large buckets of a part of the keys of some bands.
    fn propose(&self, bands: Range<usize>, part: Part, desk: &mut Desk) -> Proposed {
        let mut proposed = Proposed::default();
        let limit = self.least_limit();
        let columns = self.keys.columns(bands.clone(), &mut desk.turned);
        for (band, keys) in bands.zip(columns.chunks_exact(self.keys.documents().max(1))) {
            desk.finder.each_bucket(keys, part, self.taking_part, &mut |key, documents| {
                watch::look();
                let size = documents.len();
                if size > limit {
                    proposed.large.push((band, key, documents.to_vec()));
                } else if size > LOOKED_UP && band > 0 {
                    self.propose_new(documents, band, &mut proposed.pairs);
                } else {
                    proposed.pairs.all(documents);
                }
                proposed.pairs.settle();
            });
            watch::tick(1);
        }
        proposed
    }

    /// Proposes those pairs of a bucket that share no key of an earlier band: that band has proposed the others, or
    /// they are in a large bucket.
    fn propose_new(&self, bucket: &[u32], band: usize, pairs: &mut PairSet) {
        let earlier = band.min(EARLIER);
        let keys: Vec<u64> =
            bucket.iter().flat_map(|&document| (0..earlier).map(move |e| self.keys.get(document, e))).collect();
        let rows = || bucket.iter().zip(keys.chunks_exact(earlier));
        let shared = |(&a, &b): (&u64, &u64)| (a == b) & (a != NO_KEY);
        for (i, (&left, ours)) in rows().enumerate() {
            for (&right, theirs) in bucket[i + 1..].iter().zip(keys[(i + 1) * earlier..].chunks_exact(earlier)) {
                // Some bands at a time without a branch: in a family, the first common band cannot be predicted.
                let mut together = ours.chunks(4).zip(theirs.chunks(4));
                if !together.any(|(a, b)| a.iter().zip(b).fold(false, |met, keys| met | shared(keys))) {
                    pairs.pair(left, right);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

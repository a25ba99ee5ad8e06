//! Who might be alike? Documents that share a band key share a bucket; a bucket proposes pairs.
//!
//! A bucket of up to `limit` documents proposes all its pairs. A larger one would cost quadratic work: its documents
//! are paired with a few anchors and filed again under finer keys (this band's key together with the next band's), as
//! long as there are bands left. Such buckets are counted. The anchors are those of least content hash, so that
//! the proposals depend neither on the order of the documents nor on the number of threads.

mod keys;
mod pairs;
pub mod parts;
mod repeats;
mod same;

pub use keys::Keys;
pub use same::representatives;

use crate::bands::NO_KEY;
use crate::watch;
use pairs::{PairSet, Proposals, merge};
use rayon::prelude::*;
use repeats::{Finder, Groups, Part};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Documents of a large bucket with which all others of it are paired.
const ANCHORS: usize = 4;

/// In a bucket of more documents than this, a pair is first looked for in earlier bands: it is cheaper not to propose
/// it again than to drop it later.
const LOOKED_UP: usize = 8;

/// How many earlier bands it is looked for in.
const EARLIER: usize = 16;

/// Pairs of documents, the lower position first, in ascending order, each once.
#[derive(Default)]
pub struct Candidates {
    /// `left << 32 | right`.
    pub pairs: Vec<u64>,
    /// Buckets above the limit, which did not propose all their pairs.
    pub oversized_buckets: u64,
    /// Documents in such buckets, counted once for each.
    pub oversized_documents: u64,
}

/// What the join is to do.
pub struct Join<'a> {
    /// The band keys of all documents.
    pub keys: Keys<'a>,
    /// Content hash of each document.
    pub content: &'a [[u64; 2]],
    /// The largest bucket that proposes all its pairs.
    pub limit: usize,
    /// Which documents take part; all where it is empty.
    pub taking_part: &'a [bool],
    /// How many bands may be filed at the same time; 0 for as many as there are threads for. The pairs do not depend
    /// on it. A band takes some 20 bytes a document while most keys occur once, and 60 where all documents share one;
    /// 8 less where the keys lie by band.
    pub at_once: usize,
}

/// Buckets above the limit, by band and key.
type Oversized = HashSet<(usize, u64)>;

/// What a thread works with: made once, as fresh memory costs as much as what is done in it.
#[derive(Default)]
struct Desk {
    finder: Finder,
    turned: Vec<u64>,
}

/// The desks that nobody works at.
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

/// What a share of the keys proposes.
#[derive(Default)]
struct Proposed {
    pairs: PairSet,
    oversized: Oversized,
    oversized_documents: u64,
    /// Whether a pair was left to an earlier band.
    left_out: bool,
}

/// A bucket above the limit that is still to be divided: it shares the keys of `depth` bands.
struct Waiting {
    bucket: Vec<u32>,
    depth: usize,
    paired: Vec<u32>,
}

impl Join<'_> {
    /// All candidate pairs.
    ///
    /// Of a bucket of some size, a pair that shares an earlier bucket too is left to that one, which bounds the memory.
    /// Was that bucket above the limit, it may not have proposed the pair: then a second round does.
    pub fn candidates(&self) -> Candidates {
        let (pairs, first) = self.round(None);
        let mut all = Candidates {
            pairs,
            oversized_buckets: first.oversized.len() as u64,
            oversized_documents: first.oversized_documents,
        };
        if first.left_out && !first.oversized.is_empty() {
            let (pairs, _) = self.round(Some(&first.oversized));
            all.pairs = merge(all.pairs, pairs);
        }
        all
    }

    /// Proposes in all bands; in a second round, only what the first one left to a bucket that was above the limit.
    fn round(&self, oversized: Option<&Oversized>) -> (Vec<u64>, Proposed) {
        let (bands, threads) = (self.keys.bands(), rayon::current_num_threads());
        let at_once = if self.at_once == 0 { bands } else { self.at_once.min(bands) }.max(1);
        let width = self.keys.together().min(at_once).min(bands.div_ceil(threads)).max(1);
        let groups = if at_once == bands { bands.div_ceil(width) } else { at_once / width }.max(1);
        let parts = threads.div_ceil(groups);
        let mut pairs = Vec::new();
        let mut all = Proposed::default();
        let desks = Desks::default();
        watch::begin(bands * parts);
        for first in (0..bands).step_by(groups * width) {
            let after = bands.min(first + groups * width);
            let shares = (first..after).step_by(width).flat_map(|start| {
                let bands = start..after.min(start + width);
                (0..parts).map(move |number| (bands.clone(), Part { number, of: parts }))
            });
            let shares: Vec<_> = shares.collect();
            let proposed = shares
                .into_par_iter()
                .map(|(bands, part)| desks.with(|desk| self.propose(bands, part, oversized, desk)));
            for mut one in proposed.collect::<Vec<_>>() {
                pairs = merge(pairs, std::mem::take(&mut one.pairs).into_sorted());
                all.oversized.extend(one.oversized);
                all.oversized_documents += one.oversized_documents;
                all.left_out |= one.left_out;
            }
        }
        (pairs, all)
    }

    /// What part of the keys of some bands proposes.
    fn propose(&self, bands: Range<usize>, part: Part, oversized: Option<&Oversized>, desk: &mut Desk) -> Proposed {
        let mut proposed = Proposed::default();
        let columns = self.keys.columns(bands.clone(), &mut desk.turned);
        for (band, keys) in bands.zip(columns.chunks_exact(self.keys.documents().max(1))) {
            desk.finder.each_bucket(keys, part, self.taking_part, &mut |key, documents| {
                watch::look();
                let size = documents.len();
                if size > LOOKED_UP && size <= self.limit && band > 0 {
                    self.propose_new(documents, band, oversized, &mut proposed);
                } else if oversized.is_none() {
                    if size > self.limit {
                        proposed.oversized.insert((band, key));
                        proposed.oversized_documents += size as u64;
                    }
                    self.propose_all(documents, band, &mut proposed.pairs);
                }
                proposed.pairs.settle();
            });
            watch::tick(1);
        }
        proposed
    }

    /// Proposes those pairs of a bucket that no earlier band has proposed.
    ///
    /// The first round takes every earlier bucket to have proposed all its pairs; the second one proposes what those
    /// above the limit may have owed.
    fn propose_new(&self, bucket: &[u32], band: usize, oversized: Option<&Oversized>, proposed: &mut Proposed) {
        let earlier = band.min(EARLIER);
        let keys: Vec<u64> =
            bucket.iter().flat_map(|&document| (0..earlier).map(move |e| self.keys.get(document, e))).collect();
        let rows = || bucket.iter().zip(keys.chunks_exact(earlier));
        let shared = |(&a, &b): (&u64, &u64)| (a == b) & (a != NO_KEY);
        for (i, (&left, ours)) in rows().enumerate() {
            for (&right, theirs) in bucket[i + 1..].iter().zip(keys[(i + 1) * earlier..].chunks_exact(earlier)) {
                // Some bands at a time without a branch: in a family, nobody can foretell which is the first.
                let mut together = ours.chunks(4).zip(theirs.chunks(4));
                let met = together.any(|(a, b)| a.iter().zip(b).fold(false, |met, keys| met | shared(keys)));
                proposed.left_out |= met;
                let owed = |known: &Oversized| {
                    let mut bands = ours.iter().zip(theirs).enumerate().filter(|&(_, keys)| shared(keys));
                    met && bands.all(|(band, (&key, _))| known.contains(&(band, key)))
                };
                if oversized.map_or(!met, owed) {
                    proposed.pairs.pair(left, right);
                }
            }
        }
    }

    /// Proposes the pairs of a bucket of `band`.
    fn propose_all(&self, bucket: &[u32], band: usize, proposals: &mut impl Proposals) {
        if bucket.len() <= self.limit {
            return proposals.all(bucket);
        }
        self.divide_all(bucket, band, 1, proposals);
    }

    /// Proposes the pairs of a bucket, which shares the keys of `depth` bands from `band` on.
    fn divide_all(&self, bucket: &[u32], band: usize, depth: usize, proposals: &mut impl Proposals) {
        // A list, not the stack: there may be as many levels as bands.
        let mut waiting = vec![Waiting { bucket: bucket.to_vec(), depth, paired: Vec::new() }];
        while let Some(Waiting { bucket, depth, paired }) = waiting.pop() {
            watch::look();
            self.divide(&bucket, band, depth, &paired, proposals, &mut waiting);
            proposals.settle();
        }
    }

    /// Proposes the pairs of a bucket as [`divide_all`](Self::divide_all) does; all of its documents are paired with
    /// those `paired` that are among them. What it is divided into is proposed at once where it is small, else it waits.
    fn divide(
        &self, bucket: &[u32], band: usize, depth: usize, paired: &[u32], proposals: &mut impl Proposals,
        waiting: &mut Vec<Waiting>,
    ) {
        if bucket.len() <= self.limit {
            return proposals.all(bucket);
        }
        let anchors = self.anchors(bucket);
        for (i, anchor) in anchors.iter().enumerate().filter(|(_, anchor)| !paired.contains(anchor)) {
            for &other in bucket.iter().filter(|other| !anchors[..=i].contains(other)) {
                proposals.pair(*anchor, other);
            }
        }
        proposals.settle();
        let bands = self.keys.bands();
        let finer_key = |document: u32, depth| self.keys.get(document, (band + depth) % bands);
        // Bands in which all keys are the same divide nothing.
        let first_that_differs = |until, &document: &u32| {
            (depth..until).find(|&depth| finer_key(document, depth) != finer_key(bucket[0], depth)).unwrap_or(until)
        };
        let depth = bucket.iter().fold(bands, first_that_differs);
        if depth == bands {
            return;
        }
        let entries: Vec<_> = bucket.iter().map(|&document| (finer_key(document, depth), document)).collect();
        Groups::default().each_repeated(&entries, &mut |_, bucket| {
            watch::look();
            if bucket.len() > self.limit {
                waiting.push(Waiting { bucket: bucket.to_vec(), depth: depth + 1, paired: anchors.clone() });
            } else {
                proposals.all(bucket);
            }
            proposals.settle();
        });
    }

    /// The documents of least content hash.
    fn anchors(&self, bucket: &[u32]) -> Vec<u32> {
        let mut least: Vec<([u64; 2], u32)> = Vec::with_capacity(ANCHORS + 1);
        for &document in bucket {
            let one = (self.content[document as usize], document);
            if least.len() < ANCHORS || one < least[ANCHORS - 1] {
                least.insert(least.partition_point(|&other| other < one), one);
                least.truncate(ANCHORS);
            }
        }
        least.into_iter().map(|(_, document)| document).collect()
    }
}

#[cfg(test)]
mod tests;

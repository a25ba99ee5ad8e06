//! Samples and sizes of documents, and exact joins among them.

use super::{Column, Corpus, RawScratch};
use crate::hash::mix::{K1, finish};
use crate::setjoin::{Join, Queries, Relation};
use crate::watch;
use rayon::prelude::*;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Documents handled by one thread at a time.
const CHUNK: usize = 128;

/// The hash of a document's content, and its position.
type Hashed = (u64, u32);

/// The documents that others are compared with, field by field.
pub struct Neighbours<'a> {
    corpus: &'a Corpus,
    queries: &'a [u32],
    fields: Vec<Queries>,
}

impl Corpus {
    /// The positions of the `count` documents whose contents (the bytes of the texts, the hashes of the sets) have
    /// the smallest hashes under `seed`, in the order of the hashes; of identical contents only the first.
    pub fn sample(&self, count: usize, seed: u64) -> Vec<u32> {
        let one = |start: usize| {
            watch::look();
            let positions = start as u32..(start + CHUNK).min(self.len()) as u32;
            let mut scratch = RawScratch::default();
            positions.map(|position| (self.content_hash(position as usize, seed, &mut scratch), position)).collect()
        };
        let starts: Vec<usize> = (0..self.len()).step_by(CHUNK).collect();
        let merge = |mut all: Vec<Hashed>, part: Vec<Hashed>| {
            all.extend(part);
            if all.len() > 2 * count + 16 * CHUNK {
                keep_least(&mut all, count);
            }
            all
        };
        let mut least = starts.into_par_iter().map(one).reduce(Vec::new, merge);
        keep_least(&mut least, count);
        least.into_iter().map(|(_, position)| position).collect()
    }

    /// The size in bytes (value sets: number of elements) of all fields together, for each of some documents.
    ///
    /// It is the size of the texts themselves, without the escapes of the source.
    pub fn text_sizes(&self, positions: &[u32]) -> Vec<u64> {
        self.measured(positions, |text| text.len() as u64)
    }

    /// The length in characters (value sets: number of elements) of all fields together, for each of some documents.
    ///
    /// A character is a Unicode code point, so the result does not depend on the script's size in UTF-8.
    pub fn text_lengths(&self, positions: &[u32]) -> Vec<u64> {
        self.measured(positions, characters)
    }

    fn measured(&self, positions: &[u32], measure: impl Fn(&[u8]) -> u64 + Sync) -> Vec<u64> {
        let one = |scratch: &mut RawScratch, &position: &u32| {
            watch::look();
            let at = position as usize;
            let sizes = self.columns.iter().map(|column| match column {
                Column::Text { spans, .. } if spans[at].is_missing() => 0,
                Column::Text { spans, .. } => measure(self.raw(spans[at]).decoded(spans[at], scratch)),
                Column::Values { ends, .. } => ends[at + 1] - ends[at],
            });
            sizes.sum()
        };
        positions.par_iter().with_min_len(CHUNK).map_init(RawScratch::default, one).collect()
    }

    fn content_hash(&self, position: usize, seed: u64, scratch: &mut RawScratch) -> u64 {
        self.columns.iter().fold(finish(seed ^ K1), |hash, column| match column {
            Column::Text { spans, .. } if spans[position].is_missing() => finish(hash ^ K1),
            Column::Text { spans, .. } => {
                xxh3_64_with_seed(self.raw(spans[position]).decoded(spans[position], scratch), hash)
            }
            Column::Values { missing, .. } if missing[position] => finish(hash ^ K1),
            Column::Values { ends, hashes, .. } => {
                let set = &hashes[ends[position] as usize..ends[position + 1] as usize];
                set.iter().fold(finish(hash.wrapping_add(K1)), |hash, element| finish(hash ^ element).wrapping_add(K1))
            }
        })
    }

    /// Makes one field of the documents at `positions` ready to be joined; the join names them by their places there.
    ///
    /// All sets are in memory: 17 bytes per shingle at a threshold of 0.8, 25 at 0.5, and up to 64 MB in addition.
    pub fn join(&self, field: usize, positions: &[u32], relation: Relation, threshold: f64) -> Join {
        Join::new(self.sets(field, positions), relation, threshold)
    }

    /// Makes the documents at `queries` ready to be found by [`Neighbours::among`], at a threshold for each field.
    pub fn neighbours<'a>(&'a self, queries: &'a [u32], thresholds: &[f64]) -> Neighbours<'a> {
        let ready = |(field, &threshold)| Queries::new(self.sets(field, queries), threshold);
        Neighbours { corpus: self, queries, fields: thresholds.iter().enumerate().map(ready).collect() }
    }
}

impl Neighbours<'_> {
    /// Every query (its place among the queries, leading) and other document in `positions` with a Jaccard similarity
    /// of at least the threshold in some field that both have; in no particular order.
    pub fn among(&self, positions: Range<usize>) -> Vec<u64> {
        let starts: Vec<usize> = positions.clone().step_by(CHUNK).collect();
        let one = |start: usize| {
            let chunk: Vec<u32> = (start as u32..(start + CHUNK).min(positions.end) as u32).collect();
            let mut pairs = Vec::new();
            for (field, queries) in self.fields.iter().enumerate() {
                let found = queries.of(&self.corpus.sets(field, &chunk));
                let others = found.into_iter().map(|(query, at)| (query, chunk[at as usize]));
                let others = others.filter(|&(query, other)| self.queries[query as usize] != other);
                pairs.extend(others.map(|(query, other)| u64::from(query) << 32 | u64::from(other)));
            }
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        };
        let found: Vec<Vec<u64>> = starts.into_par_iter().map(one).collect();
        found.concat()
    }
}

/// Keeps the first position of each hash, and of these the `count` with the smallest hashes, ascending.
fn keep_least(hashed: &mut Vec<Hashed>, count: usize) {
    hashed.sort_unstable();
    hashed.dedup_by_key(|one| one.0);
    hashed.truncate(count);
}

/// The number of code points of a text in UTF-8: of its bytes that do not continue a character (0b10xxxxxx).
///
/// Counted in blocks of at most 255 bytes, so that the compiler can sum in vectors of bytes.
fn characters(text: &[u8]) -> u64 {
    let starts = |block: &[u8]| block.iter().map(|&byte| u8::from(byte & 0xC0 != 0x80)).sum::<u8>();
    text.chunks(255).map(|block| u64::from(starts(block))).sum()
}

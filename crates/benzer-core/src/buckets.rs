//! Who might be alike? Documents that share a band key share a bucket; a bucket proposes pairs.
//!
//! A bucket of up to `limit` documents proposes all its pairs. A larger one would cost quadratic work: its documents
//! are paired with a few anchors and filed again under finer keys (this band's key together with the next band's), as
//! long as there are bands left. Such buckets are counted. The anchors are those of least content hash, so that
//! the proposals depend neither on the order of the documents nor on the number of threads.

use crate::bands::NO_KEY;
use crate::hash::mix::{K2, mum};
use crate::watch;
use rayon::prelude::*;
use std::ops::Range;

/// Documents of a large bucket with which all others of it are paired.
const ANCHORS: usize = 4;

/// Bands whose keys one thread reads in one pass.
const BANDS_AT_ONCE: usize = 8;

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

/// A table of band keys, by document or by band; [`NO_KEY`] where a document has none.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    values: &'a [u64],
    bands: usize,
    /// How far apart the keys of neighbouring documents, and of neighbouring bands, lie.
    steps: [usize; 2],
}

impl<'a> Keys<'a> {
    /// All keys of a document lie together.
    pub fn by_document(values: &'a [u64], bands: usize) -> Self {
        Keys { values, bands, steps: [bands, 1] }
    }

    /// All keys of a band lie together: a join that takes one band at a time reads them in order.
    pub fn by_band(values: &'a [u64], bands: usize) -> Self {
        Keys { values, bands, steps: [1, values.len() / bands.max(1)] }
    }

    /// How many documents there are.
    pub fn documents(&self) -> usize {
        self.values.len() / self.bands.max(1)
    }

    fn get(&self, document: u32, band: usize) -> u64 {
        self.values[document as usize * self.steps[0] + band * self.steps[1]]
    }
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
    /// How many bands may be filed at the same time, each in 32 bytes a document; 0 for as many as there are threads
    /// for. The pairs do not depend on it.
    pub at_once: usize,
}

impl Join<'_> {
    /// All candidate pairs.
    ///
    /// A pair that shares several buckets is proposed in the first of them only, which bounds the memory. Buckets above
    /// the limit do not propose all their pairs, so where there is one, all buckets propose all they can, and what was
    /// proposed twice is dropped at the end.
    pub fn candidates(&self) -> Candidates {
        let mut all = self.collect(true);
        if all.oversized_buckets > 0 {
            all = self.collect(false);
        }
        all.pairs.par_sort_unstable();
        all.pairs.dedup();
        all
    }

    fn collect(&self, once: bool) -> Candidates {
        let together = if self.keys.steps[1] == 1 { BANDS_AT_ONCE } else { 1 };
        let width = if self.at_once == 0 { together } else { together.min(self.at_once) };
        let groups: Vec<usize> = (0..self.keys.bands).step_by(width).collect();
        let side_by_side = if self.at_once == 0 { groups.len() } else { self.at_once / width };
        let mut all = Candidates::default();
        watch::begin(self.keys.bands);
        for groups in groups.chunks(side_by_side.max(1)) {
            let of_group = |&first: &usize| {
                let found = self.of_bands(first..first + width, once);
                watch::tick(width);
                found
            };
            let parts: Vec<Candidates> = groups.par_iter().map(of_group).collect();
            for part in parts {
                all.pairs.extend_from_slice(&part.pairs);
                all.oversized_buckets += part.oversized_buckets;
                all.oversized_documents += part.oversized_documents;
            }
        }
        all
    }

    /// Whether two documents share a bucket of a band before `band`.
    fn met_before(&self, a: u32, b: u32, band: usize) -> bool {
        let met =
            |earlier| self.keys.get(a, earlier) == self.keys.get(b, earlier) && self.keys.get(a, earlier) != NO_KEY;
        (0..band).any(met)
    }

    /// Candidates of some bands: their keys are read together, as they lie in one cache line.
    fn of_bands(&self, bands: Range<usize>, once: bool) -> Candidates {
        let bands = bands.start..bands.end.min(self.keys.bands);
        let mut filed = vec![Vec::new(); bands.len()];
        let takes_part = |document: usize| self.taking_part.is_empty() || self.taking_part[document];
        for document in (0..self.keys.documents()).filter(|&document| takes_part(document)) {
            for (filed, band) in filed.iter_mut().zip(bands.clone()) {
                let key = self.keys.get(document as u32, band);
                if key != NO_KEY {
                    filed.push((key, document as u32));
                }
            }
        }
        let mut found = Candidates::default();
        for (band, filed) in bands.zip(filed) {
            self.of_band(band, filed, once, &mut found);
        }
        found
    }

    fn of_band(&self, band: usize, filed: Vec<(u64, u32)>, once: bool, found: &mut Candidates) {
        let mut bucket = Vec::new();
        for members in by_key(filed).chunk_by(|a, b| a.0 == b.0).filter(|members| members.len() > 1) {
            watch::look();
            bucket.clear();
            bucket.extend(members.iter().map(|&(_, document)| document));
            if once {
                self.propose_once(&mut bucket, band, found);
            } else {
                self.join(&mut bucket, band, 1, found);
            }
        }
    }

    /// Proposes those pairs of one bucket that no earlier band has proposed; only counts a bucket above the limit.
    fn propose_once(&self, bucket: &mut [u32], band: usize, found: &mut Candidates) {
        if bucket.len() > self.limit {
            found.oversized_buckets += 1;
            return;
        }
        bucket.sort_unstable();
        for (i, &left) in bucket.iter().enumerate() {
            let new = bucket[i + 1..].iter().filter(|&&right| !self.met_before(left, right, band));
            found.pairs.extend(new.map(|&right| pack(left, right)));
        }
    }

    /// Proposes the pairs of one bucket, which shares the keys of `depth` bands from `band` on.
    fn join(&self, bucket: &mut [u32], band: usize, depth: usize, found: &mut Candidates) {
        if bucket.len() <= self.limit {
            bucket.sort_unstable();
            for (i, &left) in bucket.iter().enumerate() {
                found.pairs.extend(bucket[i + 1..].iter().map(|&right| pack(left, right)));
            }
            return;
        }
        if depth == 1 {
            found.oversized_buckets += 1;
            found.oversized_documents += bucket.len() as u64;
        }
        bucket.sort_unstable_by_key(|&document| self.content[document as usize]);
        let (anchors, others) = bucket.split_at(ANCHORS.min(bucket.len()));
        for (i, &anchor) in anchors.iter().enumerate() {
            let rest = anchors[i + 1..].iter().chain(others);
            found.pairs.extend(rest.map(|&other| pack(anchor, other)));
        }
        if depth == self.keys.bands {
            return;
        }
        let next = (band + depth) % self.keys.bands;
        let filed = bucket.iter().map(|&document| (mum(self.keys.get(document, next), K2), document)).collect();
        let filed = by_key(filed);
        let mut finer = Vec::new();
        for members in filed.chunk_by(|a, b| a.0 == b.0).filter(|members| members.len() > 1) {
            finer.clear();
            finer.extend(members.iter().map(|&(_, document)| document));
            self.join(&mut finer, band, depth + 1, found);
        }
    }
}

fn pack(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// Sorts by key: radix passes over the leading 33 bits, then what is left within equal ones.
fn by_key(mut filed: Vec<(u64, u32)>) -> Vec<(u64, u32)> {
    if filed.len() < 4096 {
        filed.sort_unstable();
        return filed;
    }
    let mut spare = vec![(0, 0); filed.len()];
    for shift in [31, 42, 53] {
        let mut starts = [0usize; 2049];
        for &(key, _) in &filed {
            starts[(key >> shift) as usize % 2048 + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        for &entry in &filed {
            let start = &mut starts[(entry.0 >> shift) as usize % 2048];
            spare[*start] = entry;
            *start += 1;
        }
        std::mem::swap(&mut filed, &mut spare);
    }
    for equal in filed.chunk_by_mut(|a, b| a.0 >> 31 == b.0 >> 31).filter(|equal| equal.len() > 1) {
        equal.sort_unstable();
    }
    filed
}

/// The representative of each document: the one of least rank among those of equal content.
///
/// Documents without a shingle (`empty`) stand for themselves.
pub fn representatives(content: &[[u64; 2]], empty: &[bool], rank: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..content.len() as u32).filter(|&i| !empty[i as usize]).collect();
    order.par_sort_unstable_by_key(|&i| (content[i as usize], rank[i as usize]));
    let mut stands_for: Vec<u32> = (0..content.len() as u32).collect();
    for equal in order.chunk_by(|&a, &b| content[a as usize] == content[b as usize]) {
        for &document in equal {
            stands_for[document as usize] = equal[0];
        }
    }
    stands_for
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;

    fn join(keys: &[u64], bands: usize, limit: usize) -> Candidates {
        let content: Vec<[u64; 2]> = (0..keys.len() / bands).map(|i| [i as u64, 0]).collect();
        let by_document = Keys::by_document(keys, bands);
        let found = Join { keys: by_document, content: &content, limit, taking_part: &[], at_once: 0 }.candidates();
        let turned: Vec<u64> = (0..bands).flat_map(|band| keys.iter().skip(band).step_by(bands).copied()).collect();
        let by_band = Keys::by_band(&turned, bands);
        let other = Join { keys: by_band, content: &content, limit, taking_part: &[], at_once: 1 }.candidates();
        assert_eq!(found.pairs, other.pairs);
        assert_eq!(found.oversized_documents, other.oversized_documents);
        found
    }

    #[test]
    fn proposes_exactly_the_pairs_that_share_a_key() {
        let mut random = SplitMix64::new(3);
        for count in [10, 300, 6000] {
            let keys: Vec<u64> = (0..count * 3).map(|_| (random.next_u64() % 4000).wrapping_mul(K2)).collect();
            let mut want = Vec::new();
            for a in 0..count {
                for b in a + 1..count {
                    if (0..3).any(|band| keys[a * 3 + band] == keys[b * 3 + band]) {
                        want.push(pack(a as u32, b as u32));
                    }
                }
            }
            let found = join(&keys, 3, 1000);
            assert_eq!(found.pairs, want);
            assert_eq!(found.oversized_buckets, 0);
        }
    }

    #[test]
    fn a_bucket_above_the_limit_costs_linear_work_and_is_counted() {
        let keys = vec![7; 2 * 5000];
        let found = join(&keys, 2, 100);
        assert_eq!((found.oversized_buckets, found.oversized_documents), (2, 10_000));
        assert_eq!(found.pairs.len(), 3 + 2 + 1 + 4 * 4996);
    }

    #[test]
    fn finer_keys_divide_a_large_bucket() {
        let keys: Vec<u64> = (0..1000u64).flat_map(|i| [7, i / 10]).collect();
        let found = join(&keys, 2, 20);
        assert_eq!((found.oversized_buckets, found.oversized_documents), (1, 1000));
        assert!(found.pairs.len() < 100 * 45 + 4 * 1000);
        assert!((0..1000u32).all(|i| i % 10 == 9 || found.pairs.binary_search(&pack(i, i + 1)).is_ok()));
    }

    #[test]
    fn documents_without_keys_take_no_part() {
        assert!(join(&[NO_KEY, NO_KEY, 1], 1, 10).pairs.is_empty());
    }

    #[test]
    fn how_many_bands_are_filed_at_once_changes_nothing() {
        let mut random = SplitMix64::new(5);
        let keys: Vec<u64> = (0..400 * 20).map(|_| (random.next_u64() % 90).wrapping_mul(K2)).collect();
        let content: Vec<[u64; 2]> = (0..400).map(|i| [i, 0]).collect();
        for limit in [3, 1000] {
            let run = |at_once| Join {
                keys: Keys::by_document(&keys, 20),
                content: &content,
                limit,
                taking_part: &[],
                at_once,
            };
            let want = run(0).candidates();
            for at_once in [1, 3, 8, 16, 19, 500] {
                let found = run(at_once).candidates();
                assert_eq!(found.pairs, want.pairs);
                assert_eq!(found.oversized_documents, want.oversized_documents);
            }
        }
    }

    #[test]
    fn who_takes_no_part_is_as_one_without_keys() {
        let mut random = SplitMix64::new(6);
        let keys: Vec<u64> = (0..300 * 4).map(|_| (random.next_u64() % 40).wrapping_mul(K2)).collect();
        let content: Vec<[u64; 2]> = (0..300).map(|i| [i, 0]).collect();
        let taking_part: Vec<bool> = (0..300).map(|_| !random.next_u64().is_multiple_of(3)).collect();
        for limit in [5, 1000] {
            let some = Join {
                keys: Keys::by_document(&keys, 4),
                content: &content,
                limit,
                taking_part: &taking_part,
                at_once: 0,
            };
            let found = some.candidates();
            let mut blank = keys.clone();
            for (keys, _) in blank.chunks_exact_mut(4).zip(&taking_part).filter(|(_, takes)| !**takes) {
                keys.fill(NO_KEY);
            }
            let want = Join { keys: Keys::by_document(&blank, 4), taking_part: &[], ..some }.candidates();
            assert_eq!(found.pairs, want.pairs);
            assert_eq!(found.oversized_buckets, want.oversized_buckets);
        }
    }

    #[test]
    fn having_no_key_in_a_band_is_no_meeting() {
        assert_eq!(join(&[NO_KEY, 5, NO_KEY, 5], 2, 10).pairs, [pack(0, 1)]);
    }
}

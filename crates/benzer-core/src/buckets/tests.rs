//! The join proposes what comparing all pairs of documents proposes, whatever the layout, threads and memory.

use super::pairs::pack;
use super::*;
use crate::hash::mix::{K1, K2, SplitMix64};
use std::collections::{BTreeMap, BTreeSet};

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
fn a_bucket_may_be_divided_as_often_as_there_are_bands() {
    // Document i leaves the others at band i + 1; on the stack this took about a kilobyte a band.
    let bands = 500;
    let keys: Vec<u64> =
        (0..bands).flat_map(|i| (0..bands).map(move |band| if band <= i { 7 } else { 1000 + i as u64 })).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(256 << 10).build().unwrap();
    let found = pool.install(|| join(&keys, bands, 2));
    assert!((1..bands as u32).all(|i| found.pairs.binary_search(&pack(i - 1, i)).is_ok()));
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
        let run =
            |at_once| Join { keys: Keys::by_document(&keys, 20), content: &content, limit, taking_part: &[], at_once };
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
        let some =
            Join { keys: Keys::by_document(&keys, 4), content: &content, limit, taking_part: &taking_part, at_once: 0 };
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

/// The rule as it is written, with maps and sets: every bucket by itself, no short cut.
struct Plain<'a> {
    keys: Vec<&'a [u64]>,
    content: &'a [[u64; 2]],
    limit: usize,
    pairs: BTreeSet<u64>,
    oversized: (u64, u64),
}

impl Plain<'_> {
    fn join(&mut self, bucket: &[u32], band: usize, depth: usize) {
        if bucket.len() <= self.limit {
            self.pairs.extend(
                bucket
                    .iter()
                    .flat_map(|&a| bucket.iter().map(move |&b| (a, b)))
                    .filter(|(a, b)| a < b)
                    .map(|(a, b)| pack(a, b)),
            );
            return;
        }
        if depth == 1 {
            self.oversized.0 += 1;
            self.oversized.1 += bucket.len() as u64;
        }
        let mut bucket = bucket.to_vec();
        bucket.sort_by_key(|&document| (self.content[document as usize], document));
        for &anchor in &bucket[..4.min(bucket.len())] {
            self.pairs.extend(bucket.iter().filter(|&&other| other != anchor).map(|&other| pack(anchor, other)));
        }
        let bands = self.keys[0].len();
        if depth < bands {
            self.file(&bucket, (band + depth) % bands, false, band, depth + 1);
        }
    }

    fn file(&mut self, documents: &[u32], by: usize, skip: bool, band: usize, depth: usize) {
        let mut filed: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for &document in documents {
            filed.entry(self.keys[document as usize][by]).or_default().push(document);
        }
        for (_, bucket) in filed.into_iter().filter(|(key, bucket)| bucket.len() > 1 && !(skip && *key == NO_KEY)) {
            self.join(&bucket, band, depth);
        }
    }

    fn of(
        keys: &[u64], bands: usize, content: &[[u64; 2]], limit: usize, taking_part: &[bool],
    ) -> (Vec<u64>, (u64, u64)) {
        let keys = keys.chunks_exact(bands).collect();
        let mut plain = Plain { keys, content, limit, pairs: BTreeSet::new(), oversized: (0, 0) };
        let documents: Vec<u32> =
            (0..content.len() as u32).filter(|&d| taking_part.is_empty() || taking_part[d as usize]).collect();
        for band in 0..bands {
            plain.file(&documents, band, true, band, 1);
        }
        (plain.pairs.into_iter().collect(), plain.oversized)
    }
}

/// `1 / factor` modulo 2^64.
fn inverse(factor: u64) -> u64 {
    (0..6).fold(factor, |found, _| found.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(found))))
}

/// Ways to make a key of a small number: as band keys are, and such that the hashes of the join tell none apart.
const SHAPES: [fn(u64) -> u64; 6] = [
    |i| (i + 1).wrapping_mul(K2),
    |i| i,
    |i| i << 32,
    |i| i.rotate_right(7),
    |i| i.wrapping_mul(inverse(K1)),
    |i| i.wrapping_mul(inverse(K2)) ^ i.wrapping_mul(inverse(K2)) >> 32,
];

#[test]
fn the_rule_as_written_proposes_the_same_in_every_layout_and_with_all_threads() {
    let mut random = SplitMix64::new(9);
    let pools: Vec<_> =
        [1, 2, 5].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap()).into_iter().collect();
    for (case, count) in [2, 40, 300, 1023, 1024, 1025, 700, 2100].into_iter().enumerate() {
        for (shape, bands) in SHAPES.iter().zip([1, 2, 3, 9, 18, 4]) {
            let values = [3, count / 60 + 2, count / 7 + 2, 3 * count][case % 4] as u64;
            let mut keys: Vec<u64> = (0..count * bands).map(|_| shape(random.next_u64() % values)).collect();
            for _ in 0..count * bands / 10 {
                keys[random.next_u64() as usize % (count * bands)] = NO_KEY;
            }
            // Families that agree in most bands, so that pairs meet again and again.
            for from in (0..count.saturating_sub(30)).step_by(150) {
                for member in from + 1..from + 5 + from % 20 {
                    for band in (0..bands).filter(|band| (band + member) % 5 > 0) {
                        keys[member * bands + band] = keys[from * bands + band];
                    }
                }
            }
            let content: Vec<[u64; 2]> = (0..count).map(|_| [random.next_u64() % 500, 1]).collect();
            let taking_part: Vec<bool> = (0..count).map(|i| case % 2 == 0 || i % 9 != 4).collect();
            let turned: Vec<u64> = (0..bands).flat_map(|b| keys.iter().skip(b).step_by(bands).copied()).collect();
            for limit in [2, 12, 1000] {
                let want = Plain::of(&keys, bands, &content, limit, &taking_part);
                for (layout, keys) in
                    [Keys::by_document(&keys, bands), Keys::by_band(&turned, bands)].into_iter().enumerate()
                {
                    for (threads, pool) in pools.iter().enumerate() {
                        let at_once = [0, 1, 3][(layout + threads + case) % 3];
                        let join = Join { keys, content: &content, limit, taking_part: &taking_part, at_once };
                        let found = pool.install(|| join.candidates());
                        assert_eq!((found.oversized_buckets, found.oversized_documents), want.1);
                        assert!(found.pairs == want.0, "{count} documents, {bands} bands, limit {limit}");
                    }
                }
            }
        }
    }
}

//! The join proposes what comparing all pairs of documents proposes, whatever the layout, threads and memory.

use super::pairs::pack;
use super::*;
use crate::hash::mix::{K1, K2, SplitMix64};
use std::collections::{BTreeMap, BTreeSet};

fn join(keys: &[u64], bands: usize, limit: usize) -> Candidates {
    let by_document = Keys::by_document(keys, bands);
    let found = Join { keys: by_document, limit: Limit::Fixed(limit), taking_part: &[], at_once: 0 }.candidates();
    let turned: Vec<u64> = (0..bands).flat_map(|band| keys.iter().skip(band).step_by(bands).copied()).collect();
    let by_band = Keys::by_band(&turned, bands);
    let other = Join { keys: by_band, limit: Limit::Fixed(limit), taking_part: &[], at_once: 1 }.candidates();
    assert_eq!(found.pairs, other.pairs);
    assert_eq!(found.large, other.large);
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
        assert!(found.large.is_empty());
    }
}

#[test]
fn a_bucket_above_the_limit_is_handed_on_without_pairs() {
    let keys = vec![7; 2 * 5000];
    let found = join(&keys, 2, 100);
    assert_eq!(found.large.ends, [5000, 10_000]);
    assert!(found.large.iter().all(|bucket| bucket.iter().copied().eq(0..5000)));
    assert!(found.pairs.is_empty());
}

#[test]
fn a_pair_that_shares_a_large_bucket_is_not_proposed_by_a_small_one() {
    // All share the first band or the last; in the other one ten at a time do.
    for large in [0, 1] {
        let keys: Vec<u64> = (0..1000u64).flat_map(|i| if large == 0 { [7, i / 10] } else { [i / 10, 7] }).collect();
        let found = join(&keys, 2, 20);
        assert_eq!(found.large.ends, [1000]);
        assert!(found.pairs.is_empty());
    }
}

#[test]
fn documents_without_keys_take_no_part() {
    assert!(join(&[NO_KEY, NO_KEY, 1], 1, 10).pairs.is_empty());
}

#[test]
fn how_many_bands_are_filed_at_once_changes_nothing() {
    let mut random = SplitMix64::new(5);
    let keys: Vec<u64> = (0..400 * 20).map(|_| (random.next_u64() % 90).wrapping_mul(K2)).collect();
    for limit in [3, 1000] {
        let run = |at_once| Join {
            keys: Keys::by_document(&keys, 20),
            limit: Limit::Fixed(limit),
            taking_part: &[],
            at_once,
        };
        let want = run(0).candidates();
        for at_once in [1, 3, 8, 16, 19, 500] {
            let found = run(at_once).candidates();
            assert_eq!(found.pairs, want.pairs);
            assert_eq!(found.large, want.large);
        }
    }
}

#[test]
fn who_takes_no_part_is_as_one_without_keys() {
    let mut random = SplitMix64::new(6);
    let keys: Vec<u64> = (0..300 * 4).map(|_| (random.next_u64() % 40).wrapping_mul(K2)).collect();
    let taking_part: Vec<bool> = (0..300).map(|_| !random.next_u64().is_multiple_of(3)).collect();
    for limit in [5, 1000] {
        let some = Join {
            keys: Keys::by_document(&keys, 4),
            limit: Limit::Fixed(limit),
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
        assert_eq!(found.large, want.large);
    }
}

#[test]
fn having_no_key_in_a_band_is_no_meeting() {
    assert_eq!(join(&[NO_KEY, 5, NO_KEY, 5], 2, 10).pairs, [pack(0, 1)]);
}

/// The definition, with maps and sets: the pairs, and the documents of large buckets by band and key.
fn plain(keys: &[u64], bands: usize, limit: usize, taking_part: &[bool]) -> (Vec<u64>, Vec<Vec<u32>>) {
    let rows: Vec<&[u64]> = keys.chunks_exact(bands).collect();
    let mut filed: BTreeMap<(usize, u64), Vec<u32>> = BTreeMap::new();
    for (document, row) in (0u32..).zip(&rows).filter(|&(d, _)| taking_part.is_empty() || taking_part[d as usize]) {
        for (band, &key) in row.iter().enumerate().filter(|&(_, &key)| key != NO_KEY) {
            filed.entry((band, key)).or_default().push(document);
        }
    }
    let pairs_of = |bucket: &Vec<u32>| -> Vec<u64> {
        let pair = |&a: &u32| bucket.iter().filter(move |&&b| a < b).map(move |&b| pack(a, b));
        bucket.iter().flat_map(pair).collect()
    };
    let (large, small): (Vec<_>, Vec<_>) = filed.into_values().partition(|bucket| bucket.len() > limit);
    let shared: BTreeSet<u64> = large.iter().flat_map(pairs_of).collect();
    let pairs: BTreeSet<u64> = small.iter().flat_map(pairs_of).filter(|pair| !shared.contains(pair)).collect();
    (pairs.into_iter().collect(), large)
}

/// `1 / factor` modulo 2^64.
fn inverse(factor: u64) -> u64 {
    (0..6).fold(factor, |found, _| found.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(found))))
}

/// Ways to make a key of a small number: as band keys are, and such that all hashes of the join are equal.
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
            let taking_part: Vec<bool> = (0..count).map(|i| case % 2 == 0 || i % 9 != 4).collect();
            let turned: Vec<u64> = (0..bands).flat_map(|b| keys.iter().skip(b).step_by(bands).copied()).collect();
            for limit in [2, 12, 1000] {
                let (pairs, large) = plain(&keys, bands, limit, &taking_part);
                for (layout, keys) in
                    [Keys::by_document(&keys, bands), Keys::by_band(&turned, bands)].into_iter().enumerate()
                {
                    for (threads, pool) in pools.iter().enumerate() {
                        let at_once = [0, 1, 3][(layout + threads + case) % 3];
                        let join = Join { keys, limit: Limit::Fixed(limit), taking_part: &taking_part, at_once };
                        let found = pool.install(|| join.candidates());
                        assert!(found.large.iter().eq(&large), "{count} documents, {bands} bands, limit {limit}");
                        assert!(found.pairs == pairs, "{count} documents, {bands} bands, limit {limit}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_usual_limit_lists_all_pairs_of_few_families_and_not_those_of_many() {
    assert_eq!(usual_limit(vec![], 10), USUAL[1]);
    assert_eq!(usual_limit(vec![3, 100, 5000], 0), USUAL[1], "other sizes do not count");
    let pairs = |size: usize| size * (size - 1) / 2;
    let entries = pairs(200) + 2 * pairs(300);
    assert_eq!(usual_limit(vec![300, 200, 300], entries), USUAL[1]);
    assert_eq!(usual_limit(vec![300, 200, 300], entries - 1), 299);
    assert_eq!(usual_limit(vec![300, 200, 300], pairs(200)), 299);
    assert_eq!(usual_limit(vec![300, 200, 300], pairs(200) - 1), 199);
    // A million pairs for more entries than that, and one for each four entries of very many.
    assert_eq!(usual_limit(vec![900; 3], 2_000_000), 899);
    assert_eq!(usual_limit(vec![900; 2], 2_000_000), USUAL[1]);
    assert_eq!(usual_limit(vec![900; 3], 4 * 3 * pairs(900)), USUAL[1]);
    assert_eq!(usual_limit(vec![900; 3], 4 * 3 * pairs(900) - 1), 899);
}

#[test]
fn with_the_usual_limit_the_join_is_that_of_the_limit_it_chose() {
    // Buckets of 150 and 400 documents, among many that share nothing or among few.
    for (alone, limit) in [(2000, 149), (10_000, 399), (99_000, USUAL[1])] {
        let keys: Vec<u64> = (0..550 + alone)
            .flat_map(|i| {
                [
                    if i < 150 {
                        1
                    } else if i < 550 {
                        2
                    } else {
                        10 + i
                    },
                    1 << 40 | i,
                ]
            })
            .collect();
        let join = |limit| Join { keys: Keys::by_document(&keys, 2), limit, taking_part: &[], at_once: 0 };
        let found = join(Limit::Usual).candidates();
        let fixed = join(Limit::Fixed(limit)).candidates();
        assert_eq!(found.limit, limit);
        assert!(found.pairs == fixed.pairs && found.large == fixed.large);
    }
}

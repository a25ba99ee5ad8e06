//! A join that is divided into parts, so that each fits into the memory of one of several machines.
//!
//! A part is a share of the keys of one band. Machines distribute their entries (a key and the number of its
//! document) to the parts ([`deal`]). The machine that has all entries of a part groups them ([`Buckets::of`]) and
//! proposes pairs, some at a time ([`pairs_within`]). For keys with more documents than the limit, only the key is
//! returned: the caller collects the documents of their buckets ([`super::LargeBuckets`]) and drops the pairs that
//! share one. A pair is proposed once for each band with an equal key, so pairs are distributed again
//! ([`deal_pairs`]), and the machine that has all pairs of a part removes repetitions ([`distinct`]).
//!
//! The result is the same as that of [`super::Join`].

use super::Keys;
use super::repeats::{Finder, Part};
use crate::bands::NO_KEY;
use crate::hash::mix::{K1, K3};
use std::collections::HashSet;
use std::ops::Range;

/// The part of a hash, among `parts`.
#[inline(always)]
fn part_of(hash: u64, parts: usize) -> usize {
    ((u128::from(hash) * parts as u128) >> 64) as usize
}

/// Another hash than those by which the keys of a part are sieved and dealt out in turn.
#[inline(always)]
fn key_hash(key: u64) -> u64 {
    (key ^ key >> 29).wrapping_mul(K3)
}

#[inline(always)]
fn pair_hash(left: i64, right: i64) -> u64 {
    let mixed = (left as u64).wrapping_mul(K1) ^ (right as u64).wrapping_mul(K3).rotate_left(32);
    (mixed ^ mixed >> 29).wrapping_mul(K1)
}

/// Rows of two columns by part.
pub struct Dealt<A, B> {
    /// The first column.
    pub left: Vec<A>,
    /// The second column.
    pub right: Vec<B>,
    /// Where the rows of each part end.
    pub ends: Vec<usize>,
}

/// Distributes rows to `parts` parts, in order; `rows` is called twice and passes each row with its part.
fn dealt<A: Copy + Default, B: Copy + Default>(
    parts: usize, rows: impl Fn(&mut dyn FnMut(usize, A, B)),
) -> Dealt<A, B> {
    let mut ends = vec![0; parts];
    rows(&mut |part, _, _| ends[part] += 1);
    let mut total = 0;
    for end in &mut ends {
        (*end, total) = (total, total + *end);
    }
    let (mut left, mut right) = (vec![A::default(); total], vec![B::default(); total]);
    rows(&mut |part, a, b| {
        (left[ends[part]], right[ends[part]]) = (a, b);
        ends[part] += 1;
    });
    Dealt { left, right, ends }
}

/// Entries by part, and the keys that were found to be above the limit, by part.
pub struct DealtKeys {
    /// Keys and the numbers of their documents; none of a key in `hot`.
    pub entries: Dealt<u64, i64>,
    /// Keys of more documents than the limit.
    pub hot: Vec<u64>,
    /// Where the keys in `hot` of each part end.
    pub hot_ends: Vec<usize>,
}

/// Distributes the keys of some bands: `parts` for each band, those of the first one first.
///
/// A key of more than `limit` of these documents is named once instead: its bucket is above the limit whatever other
/// machines hold, and its entries would fill a single part.
pub fn deal(keys: Keys<'_>, numbers: &[i64], bands: Range<usize>, parts: usize, limit: usize) -> DealtKeys {
    let (mut turned, mut finder) = (Vec::new(), Finder::default());
    let columns = keys.columns(bands.clone(), &mut turned);
    let columns: Vec<&[u64]> = columns.chunks_exact(keys.documents().max(1)).collect();
    let mut hot: Vec<HashSet<u64>> = vec![HashSet::new(); bands.len()];
    for (column, hot) in columns.iter().zip(&mut hot) {
        finder.each_bucket(column, Part { number: 0, of: 1 }, &[], &mut |key, documents| {
            if documents.len() > limit {
                hot.insert(key);
            }
        });
    }
    let entries = dealt(bands.len() * parts, |row: &mut dyn FnMut(usize, u64, i64)| {
        for ((band, column), hot) in columns.iter().enumerate().zip(&hot) {
            for (&key, &number) in column.iter().zip(numbers) {
                if key != NO_KEY && (hot.is_empty() || !hot.contains(&key)) {
                    row(band * parts + part_of(key_hash(key), parts), key, number);
                }
            }
        }
    });
    let hot = dealt(bands.len() * parts, |row: &mut dyn FnMut(usize, u64, u8)| {
        for (band, hot) in hot.iter().enumerate() {
            hot.iter().for_each(|&key| row(band * parts + part_of(key_hash(key), parts), key, 0));
        }
    });
    DealtKeys { entries, hot: hot.left, hot_ends: hot.ends }
}

/// The entries without those of keys that more than `limit` of them have, or that are `hot`; such keys are added.
pub fn without_hot(keys: &[u64], numbers: &[i64], limit: usize, hot: &mut Vec<u64>) -> (Vec<u64>, Vec<i64>) {
    let mut known: HashSet<u64> = hot.iter().copied().collect();
    Finder::default().each_bucket(keys, Part { number: 0, of: 1 }, &[], &mut |key, documents| {
        if documents.len() > limit {
            known.insert(key);
        }
    });
    let kept = keys.iter().zip(numbers).filter(|(key, _)| !known.contains(key));
    let kept = kept.map(|(&key, &number)| (key, number)).unzip();
    *hot = known.into_iter().collect();
    hot.sort_unstable();
    kept
}

/// Groups of documents; all pairs of a group are wanted.
#[derive(Default)]
pub struct Buckets {
    /// The numbers of the documents, ascending in each bucket.
    pub members: Vec<i64>,
    /// Where each bucket ends.
    pub ends: Vec<usize>,
}

impl Buckets {
    /// The buckets of all entries of a part that are not above the limit; the keys of those that are go to `hot`.
    ///
    /// Keys that are in `hot` already have no bucket here: some of their entries are elsewhere.
    pub fn of(keys: &[u64], numbers: &[i64], limit: usize, hot: &mut Vec<u64>) -> Self {
        let known: HashSet<u64> = hot.iter().copied().collect();
        let mut buckets = Buckets::default();
        Finder::default().each_bucket(keys, Part { number: 0, of: 1 }, &[], &mut |key, positions| {
            if known.contains(&key) {
                return;
            }
            if positions.len() > limit {
                return hot.push(key);
            }
            let start = buckets.members.len();
            buckets.members.extend(positions.iter().map(|&position| numbers[position as usize]));
            buckets.members[start..].sort_unstable();
            buckets.ends.push(buckets.members.len());
        });
        hot.sort_unstable();
        hot.dedup();
        buckets
    }
}

/// The pairs of the `first` member and those after it with later ones of their buckets, until there are `most` or a
/// few more; and the member to continue with. `ends` says where buckets end.
///
/// # Panics
/// If an end is beyond the members.
pub fn pairs_within(members: &[i64], ends: &[usize], first: usize, most: usize) -> (Vec<i64>, Vec<i64>, usize) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut next = first;
    for &end in &ends[ends.partition_point(|&end| end <= first)..] {
        while next < end {
            if left.len() >= most {
                return (left, right, next);
            }
            let others = &members[next + 1..end];
            left.resize(left.len() + others.len(), members[next]);
            right.extend_from_slice(others);
            next += 1;
        }
    }
    (left, right, members.len())
}

/// Distributes pairs to parts.
pub fn deal_pairs(left: &[i64], right: &[i64], parts: usize) -> Dealt<i64, i64> {
    dealt(parts, |row| {
        for (&left, &right) in left.iter().zip(right) {
            row(part_of(pair_hash(left, right), parts), left, right);
        }
    })
}

/// The pairs in ascending order, each once.
pub fn distinct(left: &[i64], right: &[i64]) -> (Vec<i64>, Vec<i64>) {
    let mut pairs: Vec<(i64, i64)> = left.iter().copied().zip(right.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_iter().unzip()
}

#[cfg(test)]
mod tests {
    use super::super::pairs::PairSet;
    use super::super::{Join, LargeBuckets, Limit, Memberships};
    use super::*;
    use crate::hash::mix::{K2, SplitMix64};

    /// The pairs and large buckets of several machines: `documents` deal at a time, a part groups.
    fn by_parts(
        join: &Join<'_>, limit: usize, values: &[u64], parts: usize, documents: usize,
    ) -> (Vec<u64>, LargeBuckets) {
        let bands = join.keys.bands();
        let numbers: Vec<i64> = (0..join.keys.documents() as i64).collect();
        let mut held = vec![(Vec::new(), Vec::new(), Vec::new()); bands * parts];
        for (rows, numbers) in values.chunks(documents * bands).zip(numbers.chunks(documents)) {
            let given = deal(Keys::by_document(rows, bands), numbers, 0..bands, parts, limit);
            let (mut start, mut hot_start) = (0, 0);
            for (part, (&end, &hot_end)) in held.iter_mut().zip(given.entries.ends.iter().zip(&given.hot_ends)) {
                part.0.extend_from_slice(&given.entries.left[start..end]);
                part.1.extend_from_slice(&given.entries.right[start..end]);
                part.2.extend_from_slice(&given.hot[hot_start..hot_end]);
                (start, hot_start) = (end, hot_end);
            }
        }
        let mut pairs = PairSet::default();
        let mut add = |members: &[i64], ends: &[usize]| {
            let mut first = 0;
            while first < members.len() {
                let (left, right, next) = pairs_within(members, ends, first, 50);
                assert!(next > first && left.len() < 50 + members.len());
                left.iter().zip(right).for_each(|(&left, right)| pairs.pair(left as u32, right as u32));
                first = next;
            }
        };
        let mut large = Vec::new();
        for (part, (keys, numbers, mut hot)) in held.into_iter().enumerate() {
            let (keys, numbers) =
                if part % 2 == 0 { without_hot(&keys, &numbers, limit, &mut hot) } else { (keys, numbers) };
            let found = Buckets::of(&keys, &numbers, limit, &mut hot);
            add(&found.members, &found.ends);
            for key in hot {
                let band = part / parts;
                let documents = 0..join.keys.documents() as u32;
                let bucket: Vec<u32> = documents.filter(|&row| values[row as usize * bands + band] == key).collect();
                assert!(bucket.len() > limit);
                large.push((band, key, bucket));
            }
        }
        large.sort_unstable();
        let mut buckets = LargeBuckets::default();
        large.iter().for_each(|(_, _, bucket)| buckets.push(bucket));
        let memberships = Memberships::new(join.keys.documents(), &buckets);
        let mut pairs = pairs.into_sorted();
        pairs.retain(|&pair| !memberships.share((pair >> 32) as u32, pair as u32));
        (pairs, buckets)
    }

    #[test]
    fn the_parts_together_propose_what_the_join_does() {
        let mut random = SplitMix64::new(12);
        for (case, (count, bands)) in [(0, 2), (1, 1), (300, 1), (700, 4), (1500, 9)].into_iter().enumerate() {
            for values in [3, count as u64 / 40 + 2, count as u64 * 2 + 1] {
                // The same numbers in every band: bands must not mix.
                let mut keys: Vec<u64> =
                    (0..count * bands).map(|_| (random.next_u64() % values).wrapping_mul(K2)).collect();
                for at in (0..keys.len()).step_by(11) {
                    keys[at] = NO_KEY;
                }
                for row in (0..count).step_by(2) {
                    keys[row * bands] = 7;
                }
                for limit in [2, 20, 1000] {
                    let join = Join {
                        keys: Keys::by_document(&keys, bands),
                        limit: Limit::Fixed(limit),
                        taking_part: &[],
                        at_once: 0,
                    };
                    let want = join.candidates();
                    let found = by_parts(&join, limit, &keys, [1, 3, 16][case % 3], [1, 50, 5000][(case + limit) % 3]);
                    assert!(found.0 == want.pairs, "{count} documents, {bands} bands, limit {limit}");
                    assert!(found.1 == want.large);
                }
            }
        }
    }

    #[test]
    fn pairs_are_dealt_whole_and_kept_once() {
        let mut random = SplitMix64::new(13);
        let pairs: Vec<(i64, i64)> = (0..5000)
            .map(|_| ((random.next_u64() % 40) as i64 - 20, i64::MAX - (random.next_u64() % 40) as i64))
            .collect();
        let (left, right): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
        let given = deal_pairs(&left, &right, 7);
        let mut found = Vec::new();
        let mut start = 0;
        for &end in &given.ends {
            let (left, right) = distinct(&given.left[start..end], &given.right[start..end]);
            assert!(!left.is_empty() && left.is_sorted());
            found.extend(left.into_iter().zip(right));
            start = end;
        }
        found.sort_unstable();
        let mut want = pairs;
        want.sort_unstable();
        want.dedup();
        assert_eq!(found, want);
    }

    #[test]
    fn a_key_above_the_limit_is_named_and_its_documents_are_not_sent() {
        let keys: Vec<u64> = (0..30).flat_map(|i| [5, i]).collect();
        let numbers: Vec<i64> = (0..30).collect();
        let given = deal(Keys::by_document(&keys, 2), &numbers, 0..2, 1, 29);
        assert_eq!((given.hot, given.hot_ends), (vec![5], vec![1, 1]));
        assert_eq!((given.entries.left, given.entries.ends), ((0..30).collect(), vec![0, 30]));
    }
}

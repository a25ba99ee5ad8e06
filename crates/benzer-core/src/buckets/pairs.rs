//! A set of pairs that many buckets propose: a sorted run, and the pairs that were added since.

/// Pairs (`left << 32 | right`) are merged into the sorted run when more than this many came, and more than it holds.
const FRESH: usize = 1 << 20;

/// Fewer pairs than this are sorted by comparison alone.
const FEW: usize = 1 << 12;

/// A set of pairs; adding a pair again has no effect.
///
/// It never holds more than thrice the distinct pairs (or a fixed number of bytes, for few).
#[derive(Default)]
pub(super) struct PairSet {
    sorted: Vec<u64>,
    fresh: Vec<u64>,
}

impl PairSet {
    #[inline(always)]
    pub fn pair(&mut self, a: u32, b: u32) {
        self.fresh.push(pack(a, b));
    }

    /// Adds all pairs of some documents.
    #[inline(always)]
    pub fn all(&mut self, documents: &[u32]) {
        for (i, &left) in documents.iter().enumerate() {
            for &right in &documents[i + 1..] {
                self.pair(left, right);
            }
        }
    }

    /// Bounds the memory; call it regularly.
    pub fn settle(&mut self) {
        if self.fresh.len() > self.sorted.len().max(FRESH) {
            self.merge_fresh();
        }
    }

    /// The pairs in ascending order.
    pub fn into_sorted(mut self) -> Vec<u64> {
        self.merge_fresh();
        self.sorted
    }

    fn merge_fresh(&mut self) {
        let fresh = sorted(std::mem::take(&mut self.fresh));
        self.sorted = merge(std::mem::take(&mut self.sorted), fresh);
    }
}

pub(super) fn pack(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// All numbers of both sorted runs, each once.
pub(super) fn merge(a: Vec<u64>, b: Vec<u64>) -> Vec<u64> {
    if a.is_empty() || b.is_empty() {
        return if a.is_empty() { b } else { a };
    }
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        merged.push(x.min(y));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}

/// The numbers in ascending order, each once: distributed by their leading bits, then sorted in the cache.
fn sorted(mut pairs: Vec<u64>) -> Vec<u64> {
    let highest = pairs.iter().max().map_or(0, |pair| pair >> 32);
    if pairs.len() < FEW {
        pairs.sort_unstable();
        pairs.dedup();
        return pairs;
    }
    let heaps = (pairs.len() / 512).next_power_of_two().min(2048) as u64;
    let heap = |pair: u64| ((pair >> 32) * heaps / (highest + 1)) as usize;
    let mut ends = vec![0; heaps as usize];
    for &pair in &pairs {
        ends[heap(pair)] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        (*end, total) = (total, total + *end);
    }
    let mut dealt = vec![0; pairs.len()];
    for pair in pairs {
        let end = &mut ends[heap(pair)];
        dealt[*end] = pair;
        *end += 1;
    }
    let mut start = 0;
    for end in ends {
        dealt[start..end].sort_unstable();
        start = end;
    }
    dealt.dedup();
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;
    use std::collections::BTreeSet;

    #[test]
    fn pairs_come_back_sorted_and_once() {
        let mut random = SplitMix64::new(8);
        for (count, documents) in [(0, 1), (5, 3), (4095, 90), (4097, 90), (60_000, 1000), (60_000, u32::MAX.into())] {
            let mut set = PairSet::default();
            let mut want = BTreeSet::new();
            for _ in 0..count {
                let (a, b) = ((random.next_u64() % documents) as u32, (random.next_u64() % documents) as u32);
                set.pair(a, b);
                want.insert(pack(a, b));
                if random.next_u64().is_multiple_of(5000) {
                    set.merge_fresh();
                }
            }
            assert!(set.into_sorted().into_iter().eq(want));
        }
    }
}

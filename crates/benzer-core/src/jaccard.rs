//! The exact similarity of sets of shingle hashes, sorted and distinct, one after the other in memory.

use rayon::prelude::*;

/// Pairs that one thread compares sooner than others could be woken.
pub const FEW: usize = 256;

/// Moves for each hash after which insertion is given up.
const MOVES: usize = 32;

/// Sets one after the other: set i is `hashes[offsets[i]..offsets[i + 1]]`, ascending and without repeats.
#[derive(Default)]
pub struct Sets {
    /// Where each set starts, and the end of the last.
    pub offsets: Vec<usize>,
    /// The elements of all sets.
    pub hashes: Vec<u64>,
}

impl Sets {
    /// The set at `at`.
    pub fn get(&self, at: usize) -> &[u64] {
        &self.hashes[self.offsets[at]..self.offsets[at + 1]]
    }

    /// Joins parts in their order.
    pub fn concatenate(parts: Vec<Sets>) -> Sets {
        let mut all = Sets { offsets: vec![0], hashes: Vec::new() };
        all.hashes.reserve_exact(parts.iter().map(|part| part.hashes.len()).sum());
        for part in parts {
            let base = all.hashes.len();
            all.offsets.extend(part.offsets[1..].iter().map(|offset| base + offset));
            all.hashes.extend_from_slice(&part.hashes);
        }
        all
    }
}

/// Sorts hashes and drops repeats. `spare` is scratch.
pub fn sort_distinct(hashes: &mut Vec<u64>, spare: &mut Vec<u64>) {
    sort(hashes, spare);
    hashes.dedup();
}

/// Sorts hashes. `spare` is scratch.
///
/// The hashes are uniform, so one pass by their leading bits leaves them almost sorted: 1.1 µs for 360 hashes, where
/// a comparison sort takes 4. Hashes of 4 bytes have their leading bits further down.
pub fn sort(hashes: &mut Vec<u64>, spare: &mut Vec<u64>) {
    if hashes.len() > 1 << 20 {
        hashes.sort_unstable();
        return;
    }
    if hashes.len() > 48 {
        spread_by_leading_bits(hashes, spare);
    }
    insertion_sort(hashes);
}

fn spread_by_leading_bits(hashes: &mut Vec<u64>, spare: &mut Vec<u64>) {
    let bits = (hashes.len().ilog2() - 1).min(16);
    let highest = hashes.iter().fold(0, |all, hash| all | hash);
    let shift = (64 - highest.leading_zeros()).saturating_sub(bits);
    let mut ends = vec![0u32; (1 << bits) + 1];
    for &hash in hashes.iter() {
        ends[(hash >> shift) as usize + 1] += 1;
    }
    for i in 1..ends.len() {
        ends[i] += ends[i - 1];
    }
    spare.clear();
    spare.resize(hashes.len(), 0);
    for &hash in hashes.iter() {
        let end = &mut ends[(hash >> shift) as usize];
        spare[*end as usize] = hash;
        *end += 1;
    }
    std::mem::swap(hashes, spare);
    // Many repeats of a few hashes pile up in one place, where insertion would be quadratic.
    if piled_up(&ends) {
        hashes.sort_unstable();
    }
}

fn piled_up(ends: &[u32]) -> bool {
    // Each entry says where its place ends; the first place begins at 0.
    ends[0] > 64 || ends.windows(2).any(|pair| pair[1] - pair[0] > 64)
}

/// Sorts almost sorted values. The number of moves is limited, because an attacker can choose unsorted hashes.
fn insertion_sort(hashes: &mut [u64]) {
    let mut moves = MOVES * hashes.len();
    for i in 1..hashes.len() {
        let hash = hashes[i];
        let mut j = i;
        while j > 0 && hashes[j - 1] > hash {
            hashes[j] = hashes[j - 1];
            j -= 1;
        }
        hashes[j] = hash;
        moves = moves.saturating_sub(i - j);
        if moves == 0 {
            return hashes.sort_unstable();
        }
    }
}

/// How many elements two sets share. O(|a| + |b|), without a branch that depends on the data.
pub fn intersection(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    shared
}

/// The Jaccard similarity |A ∩ B| / |A ∪ B|; 1 for two empty sets.
pub fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    ratio(a.len(), b.len(), intersection(a, b))
}

/// The Jaccard similarity of two sets of `a` and `b` elements that share some.
#[inline(always)]
pub fn ratio(a: usize, b: usize, shared: usize) -> f64 {
    let union = a + b - shared;
    if union == 0 { 1.0 } else { shared as f64 / union as f64 }
}

/// The Jaccard similarity of each pair of sets.
pub fn pairwise(sets: &Sets, left: &[u32], right: &[u32]) -> Vec<f64> {
    let compare = |(&a, &b): (&u32, &u32)| jaccard(sets.get(a as usize), sets.get(b as usize));
    if left.len() <= FEW {
        return left.iter().zip(right).map(compare).collect();
    }
    left.par_iter().zip(right).with_min_len(256).map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;

    #[test]
    fn sorting_equals_the_standard_sort() {
        let mut random = SplitMix64::new(5);
        for len in (0..200).chain([1000, 5000, 70_000]) {
            for repeats in [1, 3, 60] {
                let pool: Vec<u64> = (0..len / repeats + 1).map(|_| random.next_u64()).collect();
                let mut hashes: Vec<u64> = (0..len).map(|_| pool[random.next_u64() as usize % pool.len()]).collect();
                let mut want = hashes.clone();
                want.sort_unstable();
                want.dedup();
                sort_distinct(&mut hashes, &mut Vec::new());
                assert_eq!(hashes, want, "{len} hashes");
            }
        }
    }

    #[test]
    fn many_repeats_in_the_first_place_are_sorted_in_no_time() {
        // By insertion this would take about 10^10 steps.
        let mut hashes = [vec![u64::MAX], vec![9; 200_000], vec![5; 200_000]].concat();
        sort_distinct(&mut hashes, &mut Vec::new());
        assert_eq!(hashes, [5, 9, u64::MAX]);
    }

    #[test]
    fn hashes_chosen_to_share_their_leading_bits_are_sorted_in_no_time() {
        // All but one have the same leading 40 bits and come in descending order.
        let descending = (0..300_000u64).rev();
        let mut hashes: Vec<u64> = [u64::MAX].into_iter().chain(descending.clone()).collect();
        sort_distinct(&mut hashes, &mut Vec::new());
        assert!(hashes.into_iter().eq(descending.rev().chain([u64::MAX])));
    }

    #[test]
    fn hashes_of_any_width_are_sorted() {
        let mut random = SplitMix64::new(6);
        for width in [0, 1, 5, 32, 33, 63, 64] {
            let mut hashes: Vec<u64> = (0..3000).map(|_| random.next_u64().unbounded_shr(64 - width)).collect();
            let mut want = hashes.clone();
            want.sort_unstable();
            want.dedup();
            sort_distinct(&mut hashes, &mut Vec::new());
            assert_eq!(hashes, want, "{width} bits");
        }
    }

    #[test]
    fn similarity_of_small_sets() {
        assert_eq!(jaccard(&[2, 3, 4], &[1, 2, 4, 5]), 0.4);
        assert_eq!(jaccard(&[], &[]), 1.0);
        assert_eq!(jaccard(&[], &[1]), 0.0);
    }
}

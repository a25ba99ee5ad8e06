//! Sets as hash tables: distinct elements, and how many of them another set has.

use crate::corpus::compare::MULTIPLIER;

const LEAST_SLOTS: usize = 16;

/// A set of hashes.
pub struct Table {
    /// The elements other than 0, which marks a free slot. At most half of the slots are taken.
    slots: Vec<u64>,
    shift: u32,
    multiplier: u64,
    zero: bool,
}

impl Default for Table {
    fn default() -> Self {
        Table { slots: Vec::new(), shift: 63, multiplier: *MULTIPLIER, zero: false }
    }
}

impl Table {
    /// Clears the set, and reserves space for so many elements.
    fn clear(&mut self, elements: usize) {
        let slots = (2 * elements).next_power_of_two().max(LEAST_SLOTS);
        self.slots.clear();
        self.slots.resize(slots, 0);
        self.shift = 64 - slots.trailing_zeros();
        self.zero = false;
    }

    /// Replaces the elements by these hashes, and appends the distinct ones to `distinct`.
    pub fn fill(&mut self, hashes: &[u64], distinct: &mut Vec<u64>) {
        self.clear(hashes.len());
        let start = distinct.len();
        distinct.resize(start + hashes.len(), 0);
        let (new, mut count) = (&mut distinct[start..], 0);
        for &hash in hashes {
            let slot = find(&self.slots, self.shift, self.multiplier, hash);
            // Without a branch on what is new: repeats are rare but cannot be predicted. A 0 leaves its slot free.
            let free = self.slots[slot] == 0;
            self.slots[slot] = hash;
            new[count] = hash;
            count += usize::from(free & (hash != 0 || !self.zero));
            self.zero |= hash == 0;
        }
        distinct.truncate(start + count);
    }

    /// Replaces the elements by these distinct hashes.
    pub fn hold(&mut self, distinct: &[u64]) {
        self.clear(distinct.len());
        for &hash in distinct {
            let slot = find(&self.slots, self.shift, self.multiplier, hash);
            self.slots[slot] = hash;
            self.zero |= hash == 0;
        }
    }

    /// The number of distinct elements of another set that this one has.
    pub fn shared(&self, distinct: &[u64]) -> usize {
        let has = |&hash: &u64| {
            let slot = find(&self.slots, self.shift, self.multiplier, hash);
            usize::from(self.slots[slot] == hash && (hash != 0 || self.zero))
        };
        distinct.iter().map(has).sum()
    }
}

/// The slot of a hash, or the free one where it would be. The number of slots is a power of two.
#[inline(always)]
fn find(slots: &[u64], shift: u32, multiplier: u64, hash: u64) -> usize {
    let mask = slots.len() - 1;
    let mut slot = (hash.wrapping_mul(multiplier) >> shift) as usize & mask;
    while slots[slot] != 0 && slots[slot] != hash {
        slot = (slot + 1) & mask;
    }
    slot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;
    use std::collections::BTreeSet;

    #[test]
    fn elements_are_distinct_and_counted_in_another_set() {
        let mut random = SplitMix64::new(5);
        let (mut table, mut distinct) = (Table::default(), Vec::new());
        for count in [0, 1, 7, 8, 9, 500] {
            for range in [1, 10, 600, u64::MAX] {
                let mut draw = || (0..count).map(|_| random.next_u64() % range).collect::<Vec<u64>>();
                let (hashes, others) = (draw(), draw());
                distinct.clear();
                table.fill(&hashes, &mut distinct);
                let set: BTreeSet<u64> = hashes.iter().copied().collect();
                assert_eq!(distinct.len(), set.len());
                assert!(distinct.iter().all(|hash| set.contains(hash)));
                let others: BTreeSet<u64> = others.into_iter().collect();
                let want = others.intersection(&set).count();
                let distinct_others: Vec<u64> = others.iter().copied().collect();
                assert_eq!(table.shared(&distinct_others), want);
                let mut held = Table::default();
                held.hold(&distinct);
                assert_eq!(held.shared(&distinct_others), want);
            }
        }
    }
}

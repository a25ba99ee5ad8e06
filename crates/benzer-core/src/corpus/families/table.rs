//! Sets as hash tables: distinct elements, and how many of them another set has.

use crate::corpus::compare::MULTIPLIER;

const LEAST_SLOTS: usize = 16;

/// A set of hashes.
#[derive(Default)]
pub struct Table {
    /// The elements other than 0, which marks a free slot. At most half of the slots are taken.
    slots: Vec<u64>,
    shift: u32,
    zero: bool,
}

impl Table {
    /// Holds these hashes from now on, and appends the distinct ones to `distinct`.
    pub fn fill(&mut self, hashes: &[u64], distinct: &mut Vec<u64>) {
        let slots = (2 * hashes.len()).next_power_of_two().max(LEAST_SLOTS);
        self.slots.clear();
        self.slots.resize(slots, 0);
        self.shift = 64 - slots.trailing_zeros();
        self.zero = false;
        for &hash in hashes {
            let slot = self.find(hash);
            if hash == 0 {
                if !std::mem::replace(&mut self.zero, true) {
                    distinct.push(0);
                }
            } else if self.slots[slot] == 0 {
                self.slots[slot] = hash;
                distinct.push(hash);
            }
        }
    }

    /// The slot of a hash, or the free one where it would be.
    #[inline(always)]
    fn find(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (hash.wrapping_mul(*MULTIPLIER) >> self.shift) as usize & mask;
        while self.slots[slot] != 0 && self.slots[slot] != hash {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// How many of the distinct elements of another set this one has.
    pub fn shared(&self, distinct: &[u64]) -> usize {
        let has = |&&hash: &&u64| if hash == 0 { self.zero } else { self.slots[self.find(hash)] == hash };
        distinct.iter().filter(has).count()
    }
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
                assert_eq!(table.shared(&others.into_iter().collect::<Vec<u64>>()), want);
            }
        }
    }
}

//! How much do many sets share with one? The one is put into a table, so that the others need not be sorted.

use crate::hash::mix::K1;

/// Probes after which a table is given up: chosen hashes could otherwise make it as slow as a list.
const PROBES: usize = 32;

/// A set in an open-addressed table.
pub struct Lookup {
    slots: Vec<u64>,
    /// For each slot 0 if it is empty, otherwise the number of the list in which its hash was seen last, from 1.
    seen: Vec<u32>,
    shift: u32,
    lists: u32,
}

impl Lookup {
    /// A table of distinct hashes; none where they cannot be spread over one.
    pub fn new(set: &[u64]) -> Option<Lookup> {
        let size = (2 * set.len() + 2).next_power_of_two();
        let mut table =
            Lookup { slots: vec![0; size], seen: vec![0; size], shift: 64 - size.trailing_zeros(), lists: 1 };
        for &hash in set {
            let start = table.start(hash);
            let free = (start..start + PROBES).map(|at| at & (size - 1)).find(|&at| table.seen[at] == 0)?;
            (table.slots[free], table.seen[free]) = (hash, 1);
        }
        Some(table)
    }

    #[inline(always)]
    fn start(&self, hash: u64) -> usize {
        (hash.wrapping_mul(K1) >> self.shift) as usize
    }

    /// How many hashes of the set a list has, which may repeat hashes. Its other hashes replace those of `others`.
    #[inline(always)]
    pub fn shared(&mut self, list: &[u64], others: &mut Vec<u64>) -> usize {
        if self.lists == u32::MAX {
            self.seen.iter_mut().for_each(|seen| *seen = u32::from(*seen > 0));
            self.lists = 1;
        }
        self.lists += 1;
        others.clear();
        let (mask, mut shared) = (self.slots.len() - 1, 0);
        for &hash in list {
            let mut at = self.start(hash);
            loop {
                if self.seen[at] == 0 {
                    others.push(hash);
                    break;
                }
                if self.slots[at] == hash {
                    shared += usize::from(self.seen[at] != self.lists);
                    self.seen[at] = self.lists;
                    break;
                }
                at = (at + 1) & mask;
            }
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::finish;

    #[test]
    fn shared_hashes_are_counted_once_and_the_others_returned() {
        let set: Vec<u64> = (0..500).map(finish).collect();
        let mut table = Lookup::new(&set).unwrap();
        let mut others = vec![7];
        for _ in 0..3 {
            let list: Vec<u64> = (450..550).chain(460..530).map(finish).collect();
            assert_eq!(table.shared(&list, &mut others), 50);
            others.sort_unstable();
            others.dedup();
            assert_eq!(others.len(), 50);
        }
        assert_eq!(table.shared(&[], &mut others), 0);
        assert_eq!(Lookup::new(&[]).unwrap().shared(&[0, 1], &mut others), 0);
        assert_eq!(others, [0, 1]);
    }

    #[test]
    fn numbers_of_lists_begin_again() {
        let mut table = Lookup::new(&[3, 5]).unwrap();
        table.lists = u32::MAX - 1;
        for _ in 0..3 {
            assert_eq!(table.shared(&[5, 5, 9], &mut Vec::new()), 1);
        }
    }

    #[test]
    fn hashes_that_pile_up_make_no_table() {
        let inverse = (0..6).fold(K1, |found, _| found.wrapping_mul(2u64.wrapping_sub(K1.wrapping_mul(found))));
        let set: Vec<u64> = (0..100).map(|low| inverse.wrapping_mul(low)).collect();
        assert!(Lookup::new(&set).is_none());
    }
}

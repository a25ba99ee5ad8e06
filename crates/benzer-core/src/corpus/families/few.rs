//! Few leaders: documents are compared with all of them while they are read.
//!
//! A near-copy has most of the elements of its leader, in the same order. So the element after the last one that both
//! have is tried first, and most elements are compared without a search.

use super::Families;
use super::table::Table;
use crate::corpus::compare::{Lists, MULTIPLIER};
use crate::similarity::Similarity;

/// The set of a leader in the order of its text.
struct Ordered {
    set: Vec<u64>,
    /// A hash table of places in the set, from 1; 0 is a free slot. At most half of the slots are taken.
    slots: Vec<u32>,
    shift: u32,
    multiplier: u64,
}

impl Ordered {
    fn new(set: &[u64]) -> Ordered {
        let slots = (2 * set.len()).next_power_of_two().max(2);
        let mut ordered = Ordered {
            set: set.to_vec(),
            slots: vec![0; slots],
            shift: 64 - slots.trailing_zeros(),
            multiplier: *MULTIPLIER,
        };
        for (place, &element) in set.iter().enumerate() {
            if let Err(slot) = ordered.find(element) {
                ordered.slots[slot] = place as u32 + 1;
            }
        }
        ordered
    }

    /// The place of an element in the set, or the slot where it would be.
    #[inline(always)]
    fn find(&self, element: u64) -> Result<usize, usize> {
        let mut slot = (element.wrapping_mul(self.multiplier) >> self.shift) as usize;
        loop {
            match self.slots[slot] as usize {
                0 => return Err(slot),
                place if self.set[place - 1] == element => return Ok(place - 1),
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// How many distinct elements of a list the set has. Those that it has not are appended to `others`, with repeats.
    fn count(&self, hashes: &[u64], stamps: &mut Stamps, others: &mut Vec<u64>) -> usize {
        let (seen, now) = stamps.next(self.set.len());
        let (mut next, mut shared) = (0, 0);
        for &hash in hashes {
            let found = if self.set.get(next) == Some(&hash) { Ok(next) } else { self.find(hash) };
            let Ok(place) = found else {
                others.push(hash);
                continue;
            };
            shared += usize::from(seen[place] != now);
            seen[place] = now;
            next = place + 1;
        }
        shared
    }
}

/// The elements of a set that occurred since the last call, without clearing them each time.
#[derive(Default)]
struct Stamps {
    places: Vec<u32>,
    now: u32,
}

impl Stamps {
    /// The stamps of a set of this size, and one that none of them has.
    fn next(&mut self, size: usize) -> (&mut [u32], u32) {
        self.now = self.now.wrapping_add(1);
        if self.now == 0 || self.places.len() < size {
            self.places.clear();
            self.places.resize(size, 0);
            self.now = 1;
        }
        (&mut self.places, self.now)
    }
}

/// The sets of some leaders.
pub struct Few {
    /// The number of the first leader.
    start: u32,
    /// The position of each leader.
    positions: Vec<u32>,
    /// The sets of each field.
    fields: Vec<Vec<Ordered>>,
}

impl Few {
    /// No leaders yet; the first will have this number.
    pub fn new(start: u32, fields: usize) -> Few {
        Few { start, positions: Vec::new(), fields: (0..fields).map(|_| Vec::new()).collect() }
    }

    /// Adds the next leader.
    pub fn push(&mut self, position: u32, sets: &[Vec<u64>]) {
        self.positions.push(position);
        for (field, set) in self.fields.iter_mut().zip(sets) {
            field.push(Ordered::new(set));
        }
    }

    /// The leaders of each document that are similar to it, by their numbers, among `pairs`: rows of documents in
    /// ascending order, and numbers of leaders.
    pub fn compare(&self, join: &Families<'_>, documents: &[u32], pairs: &[(usize, u32)]) -> Vec<Vec<(u32, f64)>> {
        let mut similarities: Vec<Similarity> = pairs.iter().map(|_| Similarity::default()).collect();
        let mut stamps: Vec<Stamps> = self.positions.iter().map(|_| Stamps::default()).collect();
        let (mut others, mut distinct, mut table) = (Vec::new(), Vec::new(), Table::default());
        for (field, leaders) in self.fields.iter().enumerate() {
            let (mut row, mut next) = (0, 0);
            join.corpus.each_list(field, documents, &mut Lists::default(), |hashes| {
                let mut own = None;
                while next < pairs.len() && pairs[next].0 == row {
                    let leader = (pairs[next].1 - self.start) as usize;
                    let set = &leaders[leader];
                    others.clear();
                    let shared = set.count(hashes, &mut stamps[leader], &mut others);
                    // The elements that the first leader lacks are few in a family of near-copies.
                    let own = *own.get_or_insert_with(|| {
                        distinct.clear();
                        table.fill(&others, &mut distinct);
                        shared + distinct.len()
                    });
                    let positions = [documents[row], self.positions[leader]];
                    join.add(&mut similarities[next], field, positions, [own, set.set.len()], || shared);
                    next += 1;
                }
                row += 1;
            });
        }
        let mut matches = vec![Vec::new(); documents.len()];
        for (&(row, leader), similarity) in pairs.iter().zip(&similarities) {
            if let Some(value) = similarity.counted().filter(|&value| value >= join.threshold) {
                matches[row].push((leader, value));
            }
        }
        matches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;
    use std::collections::BTreeSet;

    #[test]
    fn distinct_elements_are_counted_in_any_order() {
        let mut random = SplitMix64::new(21);
        let mut stamps = Stamps::default();
        for size in [0, 1, 2, 30, 200] {
            let mut set: Vec<u64> = (0..size).map(|place| place * 3).collect();
            set.iter_mut().for_each(|element| *element = element.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let ordered = Ordered::new(&set);
            for _ in 0..20 {
                let mut list: Vec<u64> = set.iter().copied().filter(|_| !random.next_u64().is_multiple_of(4)).collect();
                for _ in 0..random.next_u64() % 9 {
                    let at = random.next_u64() as usize % (list.len() + 1);
                    let element =
                        if at.is_multiple_of(2) || size == 0 { random.next_u64() } else { set[at % set.len()] };
                    list.insert(at, element);
                }
                let want: BTreeSet<u64> = list.iter().copied().filter(|element| set.contains(element)).collect();
                let missing: Vec<u64> = list.iter().copied().filter(|element| !set.contains(element)).collect();
                let mut others = Vec::new();
                assert_eq!(ordered.count(&list, &mut stamps, &mut others), want.len());
                assert_eq!(others, missing);
            }
        }
    }
}

//! Small numbers for the elements of a group's sets.
//!
//! Elements are numbered in the order of first occurrence, by a hash table small enough to stay in the cache.
//! Two sets of numbers share what the sets of hashes share, and numbers are looked up in an array of bytes: with
//! sorted hashes instead, sorting and merging took half of the time of verification, reading the texts the other.

use crate::hash::mix::SplitMix64;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// The seed that spreads elements over the table: random in each process, so that nobody can write texts that collide.
/// The numbers do not depend on it.
pub static MULTIPLIER: LazyLock<u64> =
    LazyLock::new(|| SplitMix64::new(RandomState::new().hash_one(0u8)).next_u64() | 1);

const LEAST_SLOTS: usize = 64;

/// The elements of one group so far; their numbers begin with 1.
pub struct Numbering {
    multiplier: u64,
    /// The number of the element in each slot; 0 in a free one. At most three of four slots are used.
    slots: Vec<u32>,
    /// How many of `slots` are in use: a power of two.
    size: usize,
    /// Each element by its number. Beyond the last, what was left by others.
    elements: Vec<u64>,
    /// The set each element came up in last.
    last: Vec<u32>,
    next: usize,
    /// The number of the set read last; it grows from group to group, so that `last` need not be cleared.
    set: u32,
}

impl Default for Numbering {
    fn default() -> Self {
        Numbering::spread_by(*MULTIPLIER)
    }
}

impl Numbering {
    fn spread_by(multiplier: u64) -> Self {
        let mut empty = Numbering {
            multiplier,
            slots: Vec::new(),
            size: 0,
            elements: Vec::new(),
            last: Vec::new(),
            next: 1,
            set: 0,
        };
        empty.clear();
        empty
    }

    /// Forgets all elements.
    pub fn clear(&mut self) {
        self.next = 1;
        self.resize(LEAST_SLOTS);
    }

    /// Numbers run from 1 to below this.
    pub fn end(&self) -> usize {
        self.next
    }

    /// Appends the numbers of the distinct ones of `hashes`, the elements of one set.
    pub fn append(&mut self, hashes: &[u64], numbers: &mut Vec<u32>) {
        self.make_room(hashes.len());
        let start = numbers.len();
        numbers.resize(start + hashes.len(), 0);
        let taken = self.number(hashes, &mut numbers[start..]);
        numbers.truncate(start + taken);
    }

    fn make_room(&mut self, more: usize) {
        let most = self.next + more;
        assert!(most <= u32::MAX as usize, "a group has 2^32 elements");
        if most > self.size / 4 * 3 {
            // Small tables stay in the cache, so they may be half empty or more; large ones are to be small.
            let spare = if most < 1 << 16 { 5 } else { 3 };
            self.resize((most * spare / 2).next_power_of_two());
        }
        if most > self.elements.len() {
            self.elements.resize(most + most / 4, 0);
            self.last.resize(most + most / 4, 0);
        }
        if self.set == u32::MAX {
            self.last.fill(0);
            self.set = 0;
        }
        self.set += 1;
    }

    /// Takes `size` slots into use and files the elements again.
    fn resize(&mut self, size: usize) {
        self.size = size;
        self.slots.clear();
        self.slots.resize(size, 0);
        for number in 1..self.next {
            let mut slot = self.home(self.elements[number]);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = number as u32;
        }
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        (hash.wrapping_mul(self.multiplier) >> (64 - self.size.trailing_zeros())) as usize
    }

    /// Writes the numbers of the distinct ones of `hashes` into `numbers`, which is as long; how many they are.
    ///
    /// New and repeated elements are processed without a branch, because the branch would be mispredicted. A first
    /// step to the next slot without a branch took 1.1 to 1.4 times as long: few slots are used.
    #[inline(always)]
    fn number(&mut self, hashes: &[u64], numbers: &mut [u32]) -> usize {
        let (set, mask, multiplier) = (self.set, self.size - 1, self.multiplier);
        let shift = 64 - self.size.trailing_zeros();
        let most = self.next + hashes.len();
        let (slots, elements, last) = (&mut self.slots[..=mask], &mut self.elements[..most], &mut self.last[..most]);
        assert!(numbers.len() == hashes.len());
        let (mut next, mut taken) = (self.next, 0);
        for &hash in hashes {
            let mut slot = (hash.wrapping_mul(multiplier) >> shift) as usize;
            // SAFETY: a slot is at most `mask`; the numbers in slots are below `next`, which is below `most` until all
            // hashes are done, and `taken` is below their number.
            unsafe {
                // The number of a free slot is 0, so the search ends there too.
                *elements.get_unchecked_mut(0) = hash;
                let mut number = *slots.get_unchecked(slot) as usize;
                while *elements.get_unchecked(number) != hash {
                    slot = (slot + 1) & mask;
                    number = *slots.get_unchecked(slot) as usize;
                }
                let new = number == 0;
                number = if new { next } else { number };
                *slots.get_unchecked_mut(slot) = number as u32;
                *elements.get_unchecked_mut(next) = hash;
                next += usize::from(new);
                let latest = last.get_unchecked_mut(number);
                *numbers.get_unchecked_mut(taken) = number as u32;
                taken += usize::from(*latest != set);
                *latest = set;
            }
        }
        self.next = next;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// The numbers of the distinct elements of each set, in the order in which they come up in it.
    fn by_definition(sets: &[Vec<u64>]) -> Vec<Vec<u32>> {
        let mut number_of = HashMap::new();
        let number = |set: &Vec<u64>| {
            let mut numbers = Vec::new();
            for hash in set {
                let next = number_of.len() as u32 + 1;
                let number = *number_of.entry(*hash).or_insert(next);
                if !numbers.contains(&number) {
                    numbers.push(number);
                }
            }
            numbers
        };
        sets.iter().map(number).collect()
    }

    fn check(numbering: &mut Numbering, sets: &[Vec<u64>]) {
        let mut found = Vec::new();
        numbering.clear();
        for (set, want) in sets.iter().zip(by_definition(sets)) {
            found.clear();
            numbering.append(set, &mut found);
            assert_eq!(found, want);
        }
        let distinct = sets.iter().flatten().collect::<std::collections::HashSet<_>>().len();
        assert_eq!(numbering.end(), distinct + 1);
    }

    #[test]
    fn numbers_are_those_of_the_definition_for_any_hashes() {
        let mut random = SplitMix64::new(3);
        let mut numbering = Numbering::default();
        for round in 0..200 {
            let width = [1, 4, 9, 32, 64][round % 5];
            let mut set = |len: u64| (0..len).map(|_| random.next_u64() >> (64 - width)).collect::<Vec<u64>>();
            let sets: Vec<Vec<u64>> = [0, 5, 90, 40, 0, 300].into_iter().map(&mut set).collect();
            check(&mut numbering, &sets);
        }
    }

    #[test]
    fn elements_that_all_meet_in_one_slot_are_told_apart() {
        for multiplier in [1, 1 << 63 | 1] {
            let mut numbering = Numbering::spread_by(multiplier);
            let sets = [(0..300).collect(), (100..500).rev().collect(), vec![u64::MAX, 0, u64::MAX]];
            check(&mut numbering, &sets);
        }
    }

    #[test]
    fn a_text_of_one_shingle_is_read_in_linear_time() {
        let mut numbering = Numbering::default();
        let mut numbers = Vec::new();
        for _ in 0..3 {
            numbering.clear();
            numbering.append(&vec![7; 1_000_000], &mut numbers);
            numbering.append(&[7, 8], &mut numbers);
        }
        assert_eq!(numbers, [1, 1, 2].repeat(3));
    }

    #[test]
    fn sets_are_told_apart_when_their_numbers_start_again() {
        let mut numbering = Numbering { set: u32::MAX - 2, ..Numbering::default() };
        let sets: Vec<Vec<u64>> = (0..5).map(|at| vec![at, at / 2, 9, at]).collect();
        check(&mut numbering, &sets);
    }
}

//! Documents of a band that share a key. Most keys occur once and are removed by a sieve before anything is sorted.
//!
//! The sieve has two bits for each slot of a hash of the key: seen, and seen twice. It takes 1 to 2 bytes per
//! document, so a million documents are sieved in the cache. About 12 to 22 % of the documents with a unique key pass
//! the sieve, and all others. They are distributed to heaps that fit into the cache; each heap is grouped by exact
//! key.

use crate::bands::NO_KEY;
use crate::hash::mix::{K1, K2};
use crate::watch;

/// Documents whose keys are read before any is looked at again.
const BLOCK: usize = 1024;

/// Entries of a heap, on average.
const HEAP: usize = 2048;

/// A key and the document that has it.
pub(super) type Entry = (u64, u32);

/// The part of the keys, by hash, that one thread takes.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub number: usize,
    pub of: usize,
}

impl Part {
    fn has(self, key: u64) -> bool {
        (u128::from(key.wrapping_mul(K2)) * self.of as u128) >> 64 == self.number as u128
    }
}

/// Finds the buckets of one band after the other; keeps its memory from one to the next.
#[derive(Default)]
pub(super) struct Finder {
    words: Vec<u64>,
    kept: Vec<Entry>,
    groups: Groups,
}

impl Finder {
    /// Passes each key of a part that two or more documents share, with these documents in ascending order.
    ///
    /// If `taking_part` is not empty, it selects the documents.
    pub fn each_bucket(&mut self, keys: &[u64], part: Part, taking_part: &[bool], bucket: &mut dyn FnMut(u64, &[u32])) {
        let mut sieve = Sieve::new(&mut self.words, keys.len() / part.of);
        if part.of == 1 {
            keys.iter().for_each(|&key| sieve.see(key));
        } else {
            each_of_part(keys, part, |entries| entries.iter().for_each(|&(key, _)| sieve.see(key)));
        }
        self.kept.clear();
        let keep = |entries: &mut [Entry]| {
            let passed = compact(entries, |(key, _)| sieve.seen_twice(key));
            let takes_part = |&&(key, document): &&Entry| {
                key != NO_KEY && (taking_part.is_empty() || taking_part[document as usize])
            };
            self.kept.extend(entries[..passed].iter().filter(takes_part));
        };
        each_of_part(keys, part, keep);
        self.groups.each_repeated(&self.kept, bucket);
    }
}

/// Passes the entries of a part, some at a time.
fn each_of_part(keys: &[u64], part: Part, mut take: impl FnMut(&mut [Entry])) {
    let mut entries = [(0, 0); BLOCK];
    for (block, keys) in keys.chunks(BLOCK).enumerate() {
        watch::look();
        for ((document, &key), entry) in (block * BLOCK..).zip(keys).zip(&mut entries) {
            *entry = (key, document as u32);
        }
        let entries = &mut entries[..keys.len()];
        let count = if part.of == 1 { entries.len() } else { compact(entries, |(key, _)| part.has(key)) };
        take(&mut entries[..count]);
    }
}

/// Moves the entries that are wanted to the front, in order, and counts them: without a branch, which could not be
/// predicted.
#[inline(always)]
fn compact(entries: &mut [Entry], wanted: impl Fn(Entry) -> bool) -> usize {
    let mut count = 0;
    for i in 0..entries.len() {
        let entry = entries[i];
        entries[count] = entry;
        count += usize::from(wanted(entry));
    }
    count
}

/// Two bits for each of a power of two of slots.
struct Sieve<'a> {
    words: &'a mut [u64],
    shift: u32,
}

impl<'a> Sieve<'a> {
    /// An empty sieve of 4 to 8 slots for each of so many keys.
    fn new(words: &'a mut Vec<u64>, keys: usize) -> Self {
        let slots = (keys * 8).next_power_of_two().max(128) / 2;
        words.clear();
        words.resize(slots / 32, 0);
        Sieve { words, shift: 64 - slots.trailing_zeros() }
    }

    #[inline(always)]
    fn place(&self, key: u64) -> (usize, u32) {
        let slot = key.wrapping_mul(K1) >> self.shift;
        ((slot / 32) as usize, (slot % 32 * 2) as u32)
    }

    #[inline(always)]
    fn see(&mut self, key: u64) {
        let (word, at) = self.place(key);
        let word = &mut self.words[word];
        *word |= 1 << at | (*word & 1 << at) << 1;
    }

    #[inline(always)]
    fn seen_twice(&self, key: u64) -> bool {
        let (word, at) = self.place(key);
        self.words[word] >> at & 2 != 0
    }
}

/// Groups entries by key; keeps its memory from one call to the next.
#[derive(Default)]
pub(super) struct Groups {
    dealt: Vec<Entry>,
    table: Vec<u32>,
    /// For each entry of a heap the first one of its key.
    firsts: Vec<u32>,
    /// For each first entry how many have its key; then where their documents end.
    ends: Vec<u32>,
    documents: Vec<u32>,
}

impl Groups {
    /// Passes each key that two or more entries have, with their documents in the order of the entries.
    pub fn each_repeated(&mut self, entries: &[Entry], bucket: &mut dyn FnMut(u64, &[u32])) {
        let bits = (entries.len() / HEAP).next_power_of_two().min(1 << 12).trailing_zeros();
        let mut dealt = std::mem::take(&mut self.dealt);
        let mut start = 0;
        for end in deal(entries, bits, &mut dealt) {
            self.each_of_heap(&dealt[start..end], bits, bucket);
            start = end;
        }
        self.dealt = dealt;
    }

    /// The same for entries whose hashes all begin with the same bits.
    fn each_of_heap(&mut self, heap: &[Entry], bits: u32, bucket: &mut dyn FnMut(u64, &[u32])) {
        self.find_firsts(heap, bits);
        let mut total = 0;
        for end in &mut self.ends {
            let size = *end;
            *end = if size > 1 { total } else { u32::MAX };
            total += if size > 1 { size } else { 0 };
        }
        self.documents.clear();
        self.documents.resize(total as usize, 0);
        for (&first, &(_, document)) in self.firsts.iter().zip(heap) {
            let end = &mut self.ends[first as usize];
            if *end != u32::MAX {
                self.documents[*end as usize] = document;
                *end += 1;
            }
        }
        let mut start = 0;
        for (&end, &(key, _)) in self.ends.iter().zip(heap).filter(|&(&end, _)| end != u32::MAX) {
            bucket(key, &self.documents[start..end as usize]);
            start = end as usize;
        }
    }

    /// Fills `firsts`, and `ends` with the sizes of the groups.
    fn find_firsts(&mut self, heap: &[Entry], bits: u32) {
        let slots = (heap.len() * 2).next_power_of_two().max(2);
        let shift = 64 - slots.trailing_zeros();
        self.table.clear();
        self.table.resize(slots, u32::MAX);
        self.ends.clear();
        self.ends.resize(heap.len(), 0);
        self.firsts.clear();
        for (number, &(key, _)) in heap.iter().enumerate() {
            let mut slot = (hash(key) << bits >> shift) as usize;
            while self.table[slot] != u32::MAX && heap[self.table[slot] as usize].0 != key {
                slot = (slot + 1) & (slots - 1);
            }
            if self.table[slot] == u32::MAX {
                self.table[slot] = number as u32;
            }
            self.ends[self.table[slot] as usize] += 1;
            self.firsts.push(self.table[slot]);
        }
    }
}

/// Another hash than that of the sieve.
#[inline(always)]
fn hash(key: u64) -> u64 {
    (key ^ key >> 32).wrapping_mul(K2)
}

/// Distributes entries to heaps by the first bits of their hashes, in order; returns where each heap ends.
fn deal(entries: &[Entry], bits: u32, dealt: &mut Vec<Entry>) -> Vec<usize> {
    let heap = |key| (hash(key) >> 1 >> (63 - bits)) as usize;
    let mut ends = vec![0; 1 << bits];
    for &(key, _) in entries {
        ends[heap(key)] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        (*end, total) = (total, total + *end);
    }
    dealt.resize(entries.len(), (0, 0));
    for &entry in entries {
        let end = &mut ends[heap(entry.0)];
        dealt[*end] = entry;
        *end += 1;
    }
    ends
}

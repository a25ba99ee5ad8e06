//! The number of elements that the two sets of each pair share.

use super::super::Corpus;
use super::numbering::Numbering;
use super::sets::Scratch as Reading;
use crate::watch;
use rayon::prelude::*;

/// Documents that are read together where all threads work on one group.
const CHUNK: usize = 64;

/// Pairs that one thread compares at a time there.
const PAIRS: usize = 1024;

/// One field of the pairs of a group.
#[derive(Default)]
pub struct FieldOverlaps {
    /// The size of each document's set, by the document's place.
    pub sizes: Vec<u32>,
    /// How many elements each pair shares.
    pub shared: Vec<u32>,
}

/// Pairs of one group, by the places of their documents.
pub struct Pairs<'a> {
    /// The positions of the group's documents.
    pub documents: &'a [u32],
    /// The places of each pair's documents. Of neighbouring pairs with the same left document that is marked once.
    pub ends: &'a [[u32; 2]],
}

/// Buffers of one thread.
#[derive(Default)]
pub struct Scratch {
    reading: Reading,
    sets: NumberedSets,
    marks: Vec<u8>,
}

/// Sets of numbers, one after the other.
#[derive(Default)]
struct NumberedSets {
    numbering: Numbering,
    ends: Vec<usize>,
    numbers: Vec<u32>,
}

impl NumberedSets {
    fn clear(&mut self) {
        self.numbering.clear();
        self.ends.clear();
        self.ends.push(0);
        self.numbers.clear();
    }

    fn push(&mut self, hashes: &[u64]) {
        self.numbering.append(hashes, &mut self.numbers);
        self.ends.push(self.numbers.len());
    }

    fn get(&self, place: u32) -> &[u32] {
        &self.numbers[self.ends[place as usize]..self.ends[place as usize + 1]]
    }

    /// How many numbers the sets of each pair share. `marks` are zero before and after.
    fn shared(&self, ends: &[[u32; 2]], marks: &mut Vec<u8>, shared: &mut [u32]) {
        if marks.len() < self.numbering.end() {
            marks.resize(self.numbering.end(), 0);
        }
        let mut done = 0;
        for run in ends.chunk_by(|one, other| one[0] == other[0]) {
            watch::look();
            let left = self.get(run[0][0]);
            left.iter().for_each(|&number| marks[number as usize] = 1);
            for (pair, shared) in run.iter().zip(&mut shared[done..]) {
                // SAFETY: numbers are below the end of the numbering, up to which there are marks.
                *shared = unsafe { marked(self.get(pair[1]), marks) };
            }
            left.iter().for_each(|&number| marks[number as usize] = 0);
            done += run.len();
        }
    }
}

/// How many of the numbers are marked. Where a family has 1.7 million pairs, most of the time is spent here.
///
/// # Safety
/// Each number has a mark.
unsafe fn marked(numbers: &[u32], marks: &[u8]) -> u32 {
    // SAFETY: as the caller promises.
    numbers.iter().map(|&number| u32::from(unsafe { *marks.get_unchecked(number as usize) })).sum()
}

impl Corpus {
    /// The overlaps of one field of a group's pairs, counted by this thread.
    pub(super) fn overlaps_of_few(
        &self, field: usize, pairs: &Pairs<'_>, scratch: &mut Scratch, found: &mut FieldOverlaps,
    ) {
        let Scratch { reading, sets, marks } = scratch;
        sets.clear();
        self.each_list(field, pairs.documents, reading, |hashes| sets.push(hashes));
        found.sizes.clear();
        found.sizes.extend(sets.ends.windows(2).map(|ends| (ends[1] - ends[0]) as u32));
        found.shared.clear();
        found.shared.resize(pairs.ends.len(), 0);
        sets.shared(pairs.ends, marks, &mut found.shared);
    }

    /// The same by all threads.
    pub(super) fn overlaps_of_many(&self, field: usize, pairs: &Pairs<'_>) -> FieldOverlaps {
        let mut sets = NumberedSets::default();
        sets.clear();
        let read = |positions: &[u32]| {
            let (mut hashes, mut ends) = (Vec::new(), Vec::new());
            self.each_list(field, positions, &mut Reading::default(), |list| {
                hashes.extend_from_slice(list);
                ends.push(hashes.len());
            });
            (hashes, ends)
        };
        for documents in pairs.documents.chunks(CHUNK * 4 * rayon::current_num_threads()) {
            let lists: Vec<_> = documents.par_chunks(CHUNK).map(read).collect();
            for (hashes, ends) in lists {
                watch::look();
                let mut start = 0;
                for end in ends {
                    sets.push(&hashes[start..end]);
                    start = end;
                }
            }
        }
        let mut shared = vec![0; pairs.ends.len()];
        let parts = pairs.ends.par_chunks(PAIRS).zip(shared.par_chunks_mut(PAIRS));
        parts.for_each_init(Vec::new, |marks, (ends, shared)| sets.shared(ends, marks, shared));
        FieldOverlaps { sizes: sets.ends.windows(2).map(|ends| (ends[1] - ends[0]) as u32).collect(), shared }
    }
}

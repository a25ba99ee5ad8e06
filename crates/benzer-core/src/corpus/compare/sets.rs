//! The sets of some documents.

use super::super::{Column, Corpus, RawScratch};
use crate::contents::{ContentColumn, Contents};
use crate::isa::{self, Level, Task};
use crate::jaccard::{Sets, sort_distinct};
use crate::text;
use rayon::prelude::*;

/// Documents whose sets are made by one thread at a time.
const CHUNK: usize = 64;

/// Documents from which on their sets are made by all threads.
const MANY: usize = 512;

/// Hashes of a long text from which on repeats are dropped while it is read.
const MANY_HASHES: usize = 1 << 21;

/// Buffers to read documents with.
#[derive(Default)]
pub struct Scratch {
    raw: RawScratch,
    text: text::Scratch,
}

/// Calls `take` with the shingles of each document in order: the hashes of one field, with repeats.
struct EachList<'a, F> {
    corpus: &'a Corpus,
    field: usize,
    positions: &'a [u32],
    scratch: &'a mut Scratch,
    take: F,
}

impl<F: FnMut(&[u64])> Task for EachList<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(mut self) {
        let Scratch { raw, text } = self.scratch;
        for &position in self.positions {
            let position = position as usize;
            match &self.corpus.columns[self.field] {
                Column::Text { reader, spans } => {
                    reader.read::<L>(self.corpus.text_of(spans[position], raw), text);
                    (self.take)(&text.shingles);
                }
                Column::Values { ends, hashes, .. } => {
                    (self.take)(&hashes[ends[position] as usize..ends[position + 1] as usize]);
                }
            }
        }
    }
}

/// Appends the set of each document in order.
struct AppendSets<'a> {
    corpus: &'a Corpus,
    field: usize,
    positions: &'a [u32],
    sets: &'a mut Sets,
}

impl Task for AppendSets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self) {
        let (mut scratch, mut one, mut spare) = (Scratch::default(), Vec::new(), Vec::new());
        for &position in self.positions {
            let position = position as usize;
            one.clear();
            match &self.corpus.columns[self.field] {
                Column::Text { reader, spans } => {
                    let text = self.corpus.text_of(spans[position], &mut scratch.raw);
                    let mut room = MANY_HASHES;
                    reader.read_parts::<L>(text, &mut scratch.text, |hashes| {
                        one.extend_from_slice(hashes);
                        if one.len() > room {
                            sort_distinct(&mut one, &mut spare);
                            room = room.max(2 * one.len());
                        }
                    });
                }
                Column::Values { ends, hashes, .. } => {
                    one.extend_from_slice(&hashes[ends[position] as usize..ends[position + 1] as usize]);
                }
            }
            sort_distinct(&mut one, &mut spare);
            self.sets.hashes.extend_from_slice(&one);
            self.sets.offsets.push(self.sets.hashes.len());
        }
    }
}

impl Corpus {
    /// Calls `take` with the hashes of one field of each document in turn, with repeats; none where it is missing.
    pub(in crate::corpus) fn each_list(
        &self, field: usize, positions: &[u32], scratch: &mut Scratch, take: impl FnMut(&[u64]),
    ) {
        isa::run(EachList { corpus: self, field, positions, scratch, take });
    }

    /// The fields of the documents at `positions` as sets, to compare them with documents from elsewhere.
    pub fn contents(&self, positions: &[u32]) -> Contents {
        let column = |field| {
            let missing = positions.iter().map(|&position| self.is_missing(field, position)).collect();
            ContentColumn { sets: self.sets(field, positions), missing }
        };
        Contents { columns: (0..self.fields()).map(column).collect() }
    }

    /// The sets of one field of the documents at `positions`; empty where it is missing.
    pub fn sets(&self, field: usize, positions: &[u32]) -> Sets {
        let make = |positions: &[u32]| {
            let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
            isa::run(AppendSets { corpus: self, field, positions, sets: &mut sets });
            sets
        };
        if positions.len() < MANY {
            return make(positions);
        }
        Sets::concatenate(positions.par_chunks(CHUNK).map(make).collect())
    }
}

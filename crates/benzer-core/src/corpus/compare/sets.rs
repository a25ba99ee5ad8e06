//! What are the sets of some documents?

use super::super::{Column, Corpus, RawScratch};
use crate::isa::{self, Level, Task};
use crate::jaccard::{Sets, sort_distinct};
use crate::text;
use rayon::prelude::*;

/// Documents whose sets are made by one thread at a time.
const CHUNK: usize = 64;

/// Documents from which on their sets are made by all threads.
const MANY: usize = 512;

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

impl Corpus {
    /// Calls `take` with the hashes of one field of each document in turn, with repeats; none where it is missing.
    pub(in crate::corpus) fn each_list(
        &self, field: usize, positions: &[u32], scratch: &mut Scratch, take: impl FnMut(&[u64]),
    ) {
        isa::run(EachList { corpus: self, field, positions, scratch, take });
    }

    /// The sets of one field of the documents at `positions`; empty where it is missing.
    pub fn sets(&self, field: usize, positions: &[u32]) -> Sets {
        let make = |positions: &[u32]| {
            let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
            let (mut one, mut spare) = (Vec::new(), Vec::new());
            self.each_list(field, positions, &mut Scratch::default(), |hashes| {
                one.clear();
                one.extend_from_slice(hashes);
                sort_distinct(&mut one, &mut spare);
                sets.hashes.extend_from_slice(&one);
                sets.offsets.push(sets.hashes.len());
            });
            sets
        };
        if positions.len() < MANY {
            return make(positions);
        }
        Sets::concatenate(positions.par_chunks(CHUNK).map(make).collect())
    }
}

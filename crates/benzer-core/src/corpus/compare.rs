//! How similar are two documents exactly?

use super::{Column, Corpus};
use crate::isa::{self, Level, Task};
use crate::jaccard::{Sets, jaccard, sort_distinct};
use crate::text;
use rayon::prelude::*;

/// Documents whose sets are made by one thread at a time.
const CHUNK: usize = 64;

/// The weight of each field; similarities are weighted means over the fields that both documents hold.
pub struct Weights<'a>(pub &'a [f64]);

struct MakeSets<'a> {
    corpus: &'a Corpus,
    field: usize,
    positions: &'a [u32],
}

impl Task for MakeSets<'_> {
    type Output = Sets;

    #[inline(always)]
    fn run<L: Level>(self) -> Sets {
        let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
        let (mut bytes, mut scratch, mut spare) = (Vec::new(), text::Scratch::default(), Vec::new());
        for &position in self.positions {
            let position = position as usize;
            match &self.corpus.columns[self.field] {
                Column::Text { reader, spans } => {
                    reader.read::<L>(self.corpus.text_of(spans[position], &mut bytes), &mut scratch);
                    sort_distinct(&mut scratch.shingles, &mut spare);
                    sets.hashes.extend_from_slice(&scratch.shingles);
                }
                Column::Values { ends, hashes, .. } => {
                    let set = &hashes[ends[position] as usize..ends[position + 1] as usize];
                    sets.hashes.extend_from_slice(set);
                }
            }
            sets.offsets.push(sets.hashes.len());
        }
        sets
    }
}

impl Corpus {
    /// The sets of one field of the documents at `positions`.
    fn sets(&self, field: usize, positions: &[u32]) -> Sets {
        let make = |positions| isa::run(MakeSets { corpus: self, field, positions });
        Sets::concatenate(positions.par_chunks(CHUNK).map(make).collect())
    }

    fn is_missing(&self, field: usize, position: u32) -> bool {
        match &self.columns[field] {
            Column::Text { spans, .. } => spans[position as usize].is_missing(),
            Column::Values { missing, .. } => missing[position as usize],
        }
    }

    /// The exact similarity of each pair. The sets of all documents in `left` and `right` are held at once, so callers
    /// pass pairs in batches; each document's sets are made once for a batch.
    pub fn similarity(&self, left: &[u32], right: &[u32], weights: &Weights<'_>) -> Vec<f64> {
        let mut positions: Vec<u32> = left.iter().chain(right).copied().collect();
        positions.par_sort_unstable();
        positions.dedup();
        let sets: Vec<Sets> = (0..self.columns.len()).map(|field| self.sets(field, &positions)).collect();
        let place = |position: &u32| positions.partition_point(|other| other < position);
        let compare = |(a, b): (&u32, &u32)| self.weighted(&sets, [*a, *b], [place(a), place(b)], weights);
        left.par_iter().zip(right).with_min_len(64).map(compare).collect()
    }

    /// The weighted mean over the fields that both hold and that are not empty in both. Documents empty in every field
    /// that both hold are alike; documents that hold no common field are not.
    fn weighted(&self, sets: &[Sets], positions: [u32; 2], places: [usize; 2], weights: &Weights<'_>) -> f64 {
        let (mut sum, mut total, mut both_empty) = (0.0, 0.0, false);
        for (field, sets) in sets.iter().enumerate() {
            if positions.iter().any(|&position| self.is_missing(field, position)) {
                continue;
            }
            let [a, b] = places.map(|place| sets.get(place));
            if a.is_empty() && b.is_empty() {
                both_empty = true;
                continue;
            }
            let similarity = jaccard(a, b);
            if self.columns.len() == 1 {
                // No division by the weight, which could round 0.8 to a number below it.
                return similarity;
            }
            sum += weights.0[field] * similarity;
            total += weights.0[field];
        }
        if total > 0.0 { sum / total } else { f64::from(u8::from(both_empty)) }
    }
}

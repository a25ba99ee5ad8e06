//! How do all documents become band keys?

use super::{Column, Corpus};
use crate::bands::{NO_KEY, band_keys};
use crate::hash::mix::{K1, K3, finish};
use crate::isa::{self, Task};
use crate::minhash::{self, Content, Sketcher};
use crate::text;
use rayon::prelude::*;
use std::ops::Range;

/// Documents handled by one thread at a time.
const CHUNK: usize = 256;

/// What to make of each document.
pub struct SketchPlan {
    /// Makes the signatures.
    pub sketcher: Sketcher,
    /// Bands of each signature.
    pub bands: usize,
    /// Values in a band.
    pub rows: usize,
}

/// What is kept of some documents, by position.
#[derive(Default)]
pub struct Sketches {
    /// Band keys: `fields * bands` for each document.
    pub keys: Vec<u64>,
    /// A 128-bit hash of the contents as they are compared; documents of equal hash have equal shingles.
    pub content: Vec<[u64; 2]>,
    /// Shingles with repeats: one number for each field of each document.
    pub sizes: Vec<u32>,
    /// Tokens or characters likewise.
    pub units: Vec<u32>,
}

#[derive(Default)]
struct Scratch {
    bytes: Vec<u8>,
    text: text::Scratch,
    sketch: minhash::Scratch,
    signature: Vec<u32>,
}

struct Chunk<'a> {
    corpus: &'a Corpus,
    plan: &'a SketchPlan,
    positions: Range<usize>,
}

impl Task for Chunk<'_> {
    type Output = Sketches;

    #[inline(always)]
    fn run<L: isa::Level>(self) -> Sketches {
        let mut sketches = Sketches::default();
        let mut scratch = Scratch::default();
        scratch.signature.resize(self.plan.sketcher.num_hashes(), 0);
        for position in self.positions.clone() {
            let mut content = [K1, K3];
            for field in 0..self.corpus.columns.len() {
                let part = self.field::<L>(position, field, &mut scratch, &mut sketches);
                content[0] = finish(content[0] ^ part.sum).wrapping_add(field as u64);
                content[1] = finish(content[1].wrapping_add(part.mixed)) ^ field as u64;
            }
            sketches.content.push(content);
        }
        sketches
    }
}

impl Chunk<'_> {
    #[inline(always)]
    fn field<L: isa::Level>(
        &self, position: usize, field: usize, scratch: &mut Scratch, sketches: &mut Sketches,
    ) -> Content {
        let Scratch { bytes, text, sketch, signature } = scratch;
        let (hashes, units, missing) = match &self.corpus.columns[field] {
            Column::Text { reader, spans } => {
                reader.read::<L>(self.corpus.text_of(spans[position], bytes), text);
                (text.shingles.as_slice(), text.units, spans[position].is_missing())
            }
            Column::Values { ends, hashes, missing } => {
                let set = &hashes[ends[position] as usize..ends[position + 1] as usize];
                (set, set.len(), missing[position])
            }
        };
        sketches.sizes.push(hashes.len() as u32);
        sketches.units.push(units as u32);
        let from = sketches.keys.len();
        sketches.keys.resize(from + self.plan.bands, NO_KEY);
        if hashes.is_empty() {
            // A missing field is not an empty one: documents are compared without it.
            return Content { sum: u64::from(missing), mixed: 0 };
        }
        // SAFETY: this runs at level L, so the machine offers it.
        let content = unsafe { self.plan.sketcher.sketch_level::<L>(hashes, sketch, signature) };
        band_keys(signature, self.plan.bands, self.plan.rows, field as u64, &mut sketches.keys[from..]);
        content
    }
}

impl Corpus {
    /// Sketches the documents in `positions`, on all threads of the current pool.
    pub fn sketch(&self, plan: &SketchPlan, positions: Range<usize>) -> Vec<Sketches> {
        let starts: Vec<usize> = positions.clone().step_by(CHUNK).collect();
        let one =
            |start: usize| isa::run(Chunk { corpus: self, plan, positions: start..(start + CHUNK).min(positions.end) });
        starts.into_par_iter().map(one).collect()
    }
}

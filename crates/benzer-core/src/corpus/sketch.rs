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

/// Where what is kept of some documents goes, by position.
pub struct Sketches<'a> {
    /// Band keys: `fields * bands` for each document.
    pub keys: &'a mut [u64],
    /// A 128-bit hash of the contents as they are compared; documents of equal hash have equal shingles.
    pub content: &'a mut [[u64; 2]],
    /// Shingles with repeats: one number for each field of each document.
    pub sizes: &'a mut [u32],
    /// Tokens or characters likewise.
    pub units: &'a mut [u32],
}

/// Where what is kept of one field of one document goes.
struct Slots<'a> {
    keys: &'a mut [u64],
    size: &'a mut u32,
    units: &'a mut u32,
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
    out: Sketches<'a>,
}

impl Task for Chunk<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: isa::Level>(self) {
        let Chunk { corpus, plan, positions, out } = self;
        let fields = corpus.columns.len();
        let mut scratch = Scratch::default();
        scratch.signature.resize(plan.sketcher.num_hashes(), 0);
        let keys = out.keys.chunks_exact_mut(plan.bands);
        let mut slots = keys.zip(out.sizes).zip(out.units).map(|((keys, size), units)| Slots { keys, size, units });
        for (position, content) in positions.zip(out.content) {
            *content = [K1, K3];
            for (field, slots) in (0..fields).zip(slots.by_ref()) {
                let part = sketch_field::<L>(corpus, plan, position, field, &mut scratch, slots);
                content[0] = finish(content[0] ^ part.sum).wrapping_add(field as u64);
                content[1] = finish(content[1].wrapping_add(part.mixed)) ^ field as u64;
            }
        }
    }
}

#[inline(always)]
fn sketch_field<L: isa::Level>(
    corpus: &Corpus, plan: &SketchPlan, position: usize, field: usize, scratch: &mut Scratch, slots: Slots<'_>,
) -> Content {
    let Scratch { bytes, text, sketch, signature } = scratch;
    let (hashes, units, missing) = match &corpus.columns[field] {
        Column::Text { reader, spans } => {
            reader.read::<L>(corpus.text_of(spans[position], bytes), text);
            (text.shingles.as_slice(), text.units, spans[position].is_missing())
        }
        Column::Values { ends, hashes, missing } => {
            let set = &hashes[ends[position] as usize..ends[position + 1] as usize];
            (set, set.len(), missing[position])
        }
    };
    *slots.size = hashes.len() as u32;
    *slots.units = units as u32;
    if hashes.is_empty() {
        slots.keys.fill(NO_KEY);
        // A missing field is not an empty one: documents are compared without it.
        return Content { sum: u64::from(missing), mixed: 0 };
    }
    // SAFETY: this runs at level L, so the machine offers it.
    let content = unsafe { plan.sketcher.sketch_level::<L>(hashes, sketch, signature) };
    band_keys(signature, plan.bands, plan.rows, field as u64, slots.keys);
    content
}

impl Corpus {
    /// Sketches the documents from `start` on, as many as `out` has room for, on all threads of the current pool.
    ///
    /// # Panics
    /// Where the parts of `out` are of different numbers of documents, or of more than there are.
    pub fn sketch(&self, plan: &SketchPlan, start: usize, out: Sketches<'_>) {
        let (count, fields) = (out.content.len(), self.columns.len());
        assert!(start + count <= self.len(), "there are {} documents", self.len());
        assert!(
            [out.keys.len(), out.sizes.len(), out.units.len()] == [plan.bands, 1, 1].map(|each| count * fields * each),
            "room for the fields of {count} documents"
        );
        let per_chunk = (CHUNK * fields).max(1);
        let keys = out.keys.par_chunks_mut(per_chunk * plan.bands);
        let numbers = out.sizes.par_chunks_mut(per_chunk).zip(out.units.par_chunks_mut(per_chunk));
        let parts = keys.zip(out.content.par_chunks_mut(CHUNK)).zip(numbers);
        parts.enumerate().for_each(|(chunk, ((keys, content), (sizes, units)))| {
            let first = start + chunk * CHUNK;
            let positions = first..first + content.len();
            isa::run(Chunk { corpus: self, plan, positions, out: Sketches { keys, content, sizes, units } });
        });
    }
}

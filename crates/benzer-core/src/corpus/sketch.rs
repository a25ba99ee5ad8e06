//! Computes the band keys of all documents.

use super::held::Span;
use super::{Column, Corpus, Raw, RawScratch};
use crate::bands::{NO_KEY, band_keys};
use crate::hash::mix::{K1, K3, finish};
use crate::isa::{self, Task};
use crate::minhash::{self, Content, Sketcher};
use crate::text::{self, Reader, Size};
use crate::watch;
use rayon::prelude::*;

/// Documents handled by one thread at a time.
const CHUNK: usize = 256;

/// The sketches to compute for each document.
#[derive(Clone, PartialEq)]
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
    /// A 128-bit hash of the contents as they are compared; equal hashes propose equal shingles (see [`Content`]).
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

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    raw: RawScratch,
    text: TextScratch,
    signature: Vec<u32>,
}

/// Buffers for [`sketch_text`]; make one per thread.
#[derive(Default)]
pub struct TextScratch {
    text: text::Scratch,
    sketch: minhash::Scratch,
    /// The signature of a part of a long text, and that of all parts up to it.
    parts: Vec<u32>,
}

/// Writes the signature of a text to `signature`; returns the sums over its shingles, and its size.
///
/// # Panics
/// If `signature` does not have the length of the sketcher's signatures.
#[inline(always)]
pub fn sketch_text<L: isa::Level>(
    sketcher: &Sketcher, reader: &Reader, text: &str, scratch: &mut TextScratch, signature: &mut [u32],
) -> (Content, Size) {
    let TextScratch { text: read, sketch, parts } = scratch;
    let (mut content, mut first) = (Content::default(), true);
    let size = reader.read_parts::<L>(text, read, |hashes| {
        if !first {
            parts.resize(2 * signature.len(), 0);
        }
        let out = if first { &mut *signature } else { &mut parts[..signature.len()] };
        // SAFETY: this runs at level L, so the machine offers it.
        content += unsafe { sketcher.sketch_level::<L>(hashes, sketch, out) };
        if !first {
            let (part, all) = parts.split_at_mut(signature.len());
            minhash::merge(sketcher.algorithm(), signature, part, all);
            signature.copy_from_slice(all);
        }
        first = false;
    });
    (content, size)
}

/// One field of one document.
pub(super) enum Field<'a> {
    /// A text, and its bytes in the buffer.
    Text(&'a Reader, Span, Raw<'a>),
    /// A set of hashes, and whether the document lacks the field.
    Values(&'a [u64], bool),
}

/// Documents that one thread sketches: `field` gives each field of each.
pub(super) struct Chunk<'a, F> {
    pub(super) plan: &'a SketchPlan,
    pub(super) fields: usize,
    pub(super) scratch: &'a mut Scratch,
    pub(super) field: F,
    pub(super) out: Sketches<'a>,
}

impl<'a, F: Fn(usize, usize) -> Field<'a>> Task for Chunk<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: isa::Level>(self) {
        let Chunk { plan, fields, scratch, field, out } = self;
        scratch.signature.resize(plan.sketcher.num_hashes(), 0);
        let keys = out.keys.chunks_exact_mut(plan.bands);
        let mut slots = keys.zip(out.sizes).zip(out.units).map(|((keys, size), units)| Slots { keys, size, units });
        for (document, content) in out.content.iter_mut().enumerate() {
            watch::look();
            *content = [K1, K3];
            for (number, slots) in (0..fields).zip(slots.by_ref()) {
                let part = sketch_field::<L>(plan, number, field(document, number), scratch, slots);
                content[0] = finish(content[0] ^ part.sum).wrapping_add(number as u64);
                content[1] = finish(content[1].wrapping_add(part.mixed)) ^ number as u64;
            }
        }
    }
}

#[inline(always)]
fn sketch_field<L: isa::Level>(
    plan: &SketchPlan, number: usize, field: Field<'_>, scratch: &mut Scratch, slots: Slots<'_>,
) -> Content {
    let Scratch { raw: room, text, signature } = scratch;
    let (content, size, missing) = match field {
        Field::Text(reader, span, raw) => {
            let (content, size) = sketch_text::<L>(&plan.sketcher, reader, raw.text(span, room), text, signature);
            (content, size, span.is_missing())
        }
        Field::Values(set, missing) => {
            // SAFETY: this runs at level L, so the machine offers it.
            let content = unsafe { plan.sketcher.sketch_level::<L>(set, &mut text.sketch, signature) };
            (content, Size { shingles: set.len(), units: set.len() }, missing)
        }
    };
    *slots.size = size.shingles as u32;
    *slots.units = size.units as u32;
    if size.shingles == 0 {
        slots.keys.fill(NO_KEY);
        // A missing field is not an empty one: documents are compared without it.
        return Content { sum: u64::from(missing), mixed: 0 };
    }
    band_keys(signature, plan.bands, plan.rows, number as u64, slots.keys);
    content
}

impl Corpus {
    /// Sketches the documents from `start` on, as many as `out` has space for, on all threads of the current pool.
    /// Sketches that were computed by this plan during reading are returned, once.
    ///
    /// # Panics
    /// If the parts of `out` are for different numbers of documents, or for more than exist.
    pub fn sketch(&self, plan: &SketchPlan, start: usize, out: Sketches<'_>) {
        let (count, fields) = (out.content.len(), self.columns.len());
        assert!(start + count <= self.len(), "there are {} documents", self.len());
        assert!(
            [out.keys.len(), out.sizes.len(), out.units.len()] == [plan.bands, 1, 1].map(|each| count * fields * each),
            "room for the fields of {count} documents"
        );
        let (mut start, mut out) = (start, out);
        while !out.content.is_empty() {
            let (made, count) = self.made_ahead(plan, start, out.content.len());
            let (now, later) = out.split_at(count, fields, plan.bands);
            match made {
                Some(made) => made.copy_to(start, now),
                None => self.sketch_anew(plan, start, now),
            }
            (start, out) = (start + count, later);
        }
    }

    fn sketch_anew(&self, plan: &SketchPlan, start: usize, out: Sketches<'_>) {
        let fields = self.columns.len();
        let per_chunk = (CHUNK * fields).max(1);
        let keys = out.keys.par_chunks_mut(per_chunk * plan.bands);
        let numbers = out.sizes.par_chunks_mut(per_chunk).zip(out.units.par_chunks_mut(per_chunk));
        let parts = keys.zip(out.content.par_chunks_mut(CHUNK)).zip(numbers);
        parts.enumerate().for_each(|(chunk, ((keys, content), (sizes, units)))| {
            let first = start + chunk * CHUNK;
            let field = |document: usize, field: usize| self.field(first + document, field);
            let (scratch, out) = (&mut Scratch::default(), Sketches { keys, content, sizes, units });
            isa::run(Chunk { plan, fields, scratch, field, out });
        });
    }

    fn field(&self, position: usize, field: usize) -> Field<'_> {
        match &self.columns[field] {
            Column::Text { reader, spans } => {
                let span = spans[position];
                Field::Text(reader, span, if span.is_missing() { Raw::Memory(&[]) } else { self.raw(span) })
            }
            Column::Values { ends, hashes, missing } => {
                let set = ends[position] as usize..ends[position + 1] as usize;
                Field::Values(&hashes[set], missing[position])
            }
        }
    }
}

impl<'a> Sketches<'a> {
    /// The space for the first `count` documents, and for the others.
    fn split_at(self, count: usize, fields: usize, bands: usize) -> (Sketches<'a>, Sketches<'a>) {
        let (keys, later_keys) = self.keys.split_at_mut(count * fields * bands);
        let (content, later_content) = self.content.split_at_mut(count);
        let (sizes, later_sizes) = self.sizes.split_at_mut(count * fields);
        let (units, later_units) = self.units.split_at_mut(count * fields);
        let later = Sketches { keys: later_keys, content: later_content, sizes: later_sizes, units: later_units };
        (Sketches { keys, content, sizes, units }, later)
    }
}

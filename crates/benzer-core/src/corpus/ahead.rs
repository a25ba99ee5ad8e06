//! Sketches documents as soon as they are read, while their bytes are still in the cache.
//!
//! A caller that knows the plan before reading announces it ([`Corpus::sketch_ahead`]). Documents of JSONL are then
//! sketched about 64 KB at a time by the thread that has just scanned them, and [`Corpus::sketch`] returns the stored
//! sketches: the file is loaded from memory once instead of twice.

use super::held::Span;
use super::sketch::{Chunk, Field, Scratch, SketchPlan, Sketches};
use super::{Column, Corpus, Raw};
use crate::isa;
use crate::text::Reader;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of text that are scanned before they are sketched: they stay in the second-level cache.
const PENDING: u64 = 64 << 10;

/// Sketches by the position of the first document of each part.
type Parts = BTreeMap<usize, Arc<Made>>;

/// A plan, and its sketches that were not returned yet.
pub(super) struct Ahead {
    plan: SketchPlan,
    parts: Mutex<Parts>,
}

/// The sketches of adjacent documents.
#[derive(Default)]
pub(super) struct Made {
    keys: Vec<u64>,
    content: Vec<[u64; 2]>,
    sizes: Vec<u32>,
    units: Vec<u32>,
}

/// Sketches of some documents, and the position of the first.
pub(super) struct Found {
    first: usize,
    made: Arc<Made>,
}

impl Found {
    /// Copies the sketches from position `start` on.
    pub(super) fn copy_to(&self, start: usize, out: Sketches<'_>) {
        let (made, from, count) = (&self.made, start - self.first, out.content.len());
        let (fields, width) = (made.sizes.len() / made.content.len(), made.keys.len() / made.content.len());
        out.content.copy_from_slice(&made.content[from..from + count]);
        out.keys.copy_from_slice(&made.keys[from * width..(from + count) * width]);
        out.sizes.copy_from_slice(&made.sizes[from * fields..(from + count) * fields]);
        out.units.copy_from_slice(&made.units[from * fields..(from + count) * fields]);
    }
}

impl Corpus {
    /// Sets the plan for documents that are added from now on, so that they are sketched while they are read.
    ///
    /// Sketches are stored until they are returned: 8 bytes per band key and 24 bytes per document.
    pub fn sketch_ahead(&mut self, plan: SketchPlan) {
        self.ahead = Some(Ahead { plan, parts: Mutex::default() });
    }

    /// The sketches of the document at `start` by this plan, if they exist, and for how many of `count` documents
    /// from there on. Sketches that are returned to their end are not kept.
    pub(super) fn made_ahead(&self, plan: &SketchPlan, start: usize, count: usize) -> (Option<Found>, usize) {
        let Some(mut parts) = self.ahead.as_ref().filter(|ahead| ahead.plan == *plan).map(Ahead::parts) else {
            return (None, count);
        };
        let before = parts.range(..=start).next_back().map(|(&first, made)| Found { first, made: Arc::clone(made) });
        match before.filter(|found| start < found.first + found.made.content.len()) {
            Some(found) => {
                let left = found.first + found.made.content.len() - start;
                if count >= left {
                    parts.remove(&found.first);
                }
                (Some(found), count.min(left))
            }
            None => {
                let next = parts.range(start..).next().map_or(count, |(&first, _)| first - start);
                (None, count.min(next))
            }
        }
    }

    /// Sketches documents that the scanner has read.
    pub(super) fn follower<'a>(&'a self) -> Option<Follower<'a>> {
        let reader = |column: &'a Column| match column {
            Column::Text { reader, .. } => Some(reader),
            Column::Values { .. } => None,
        };
        let readers: Option<Vec<&Reader>> = self.columns.iter().map(reader).collect();
        let (plan, readers) = (&self.ahead.as_ref()?.plan, readers?);
        let (scratch, made) = (Scratch::default(), Made::default());
        Some(Follower { plan, readers, scratch, done: 0, pending: 0, made })
    }

    /// Keeps the sketches of documents that are appended next.
    pub(super) fn keep_made(&self, made: Option<Made>) {
        if let (Some(ahead), Some(made)) = (&self.ahead, made.filter(|made| !made.content.is_empty())) {
            ahead.parts().insert(self.len(), Arc::new(made));
        }
    }
}

impl Ahead {
    fn parts(&self) -> MutexGuard<'_, Parts> {
        // A part is put in or taken out whole, so there is nothing half done.
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sketches documents that have just been scanned.
pub(super) struct Follower<'a> {
    plan: &'a SketchPlan,
    readers: Vec<&'a Reader>,
    scratch: Scratch,
    /// Spans that are sketched already, and the bytes of those that are not.
    done: usize,
    pending: u64,
    made: Made,
}

impl Follower<'_> {
    /// Takes notice of a further document; `spans` are those of all documents up to now. Those that are not sketched
    /// yet are in `data`, whose spans begin at `start`.
    pub(super) fn follow(&mut self, spans: &[Span], data: &[u8], start: u64) {
        let document = &spans[spans.len() - self.readers.len()..];
        self.pending += document.iter().map(|span| u64::from(span.len())).sum::<u64>();
        if self.pending >= PENDING {
            self.sketch(spans, data, start);
        }
    }

    /// The sketches of all documents.
    pub(super) fn finish(mut self) -> Made {
        self.made.keys.shrink_to_fit(); // grown by doubling, and held until the last document is read
        self.made
    }

    /// Sketches the documents that are not sketched yet; see [`Follower::follow`].
    pub(super) fn sketch(&mut self, spans: &[Span], data: &[u8], start: u64) {
        let (fields, made) = (self.readers.len(), &mut self.made);
        let before = made.content.len();
        let count = spans.len() / fields;
        made.keys.resize(count * fields * self.plan.bands, 0);
        made.content.resize(count, [0; 2]);
        made.sizes.resize(count * fields, 0);
        made.units.resize(count * fields, 0);
        let out = Sketches {
            keys: &mut made.keys[before * fields * self.plan.bands..],
            content: &mut made.content[before..],
            sizes: &mut made.sizes[before * fields..],
            units: &mut made.units[before * fields..],
        };
        let (readers, new) = (&self.readers, &spans[self.done..]);
        let field = |document: usize, field: usize| {
            let span = new[document * fields + field];
            let from = span.start().wrapping_sub(start) as usize;
            let raw = if span.is_missing() { &[] } else { &data[from..from + span.len() as usize] };
            Field::Text(readers[field], span, Raw::Memory(raw))
        };
        isa::run(Chunk { plan: self.plan, fields, scratch: &mut self.scratch, field, out });
        self.done = spans.len();
        self.pending = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FieldKind, JsonlColumns};
    use super::*;
    use crate::minhash::{Algorithm, Sketcher};
    use crate::text::Recipe;

    type Owned = (Vec<u64>, Vec<[u64; 2]>, Vec<u32>, Vec<u32>);

    fn plan(seed: u64) -> SketchPlan {
        SketchPlan { sketcher: Sketcher::new(Algorithm::Fast, 12, seed).unwrap(), bands: 4, rows: 3 }
    }

    /// Two text fields, of rows with and without faults, escapes and missing fields, in several files.
    fn corpus(ahead: Option<SketchPlan>) -> Corpus {
        let recipe = Recipe::PLAIN;
        let field = || FieldKind::Text(Reader::new(recipe, &[]));
        let mut corpus = Corpus::new(vec![field(), field()]);
        ahead.into_iter().for_each(|plan| corpus.sketch_ahead(plan));
        let fields = ["title".to_owned(), "body".to_owned()];
        let columns = JsonlColumns { fields: &fields, id: None, id_required: false, extra: None };
        for source in 0..3 {
            let line = |at: usize| match at % 7 {
                3 => "{\"title\": 1}\n".to_owned(),
                5 => format!("{{\"title\": null, \"body\": \"caf\\u00e9 {at} \\n au lait {}\"}}\n", at % 4),
                _ => format!("{{\"title\": \"{}\", \"body\": \"{}\"}}\n", at % 3, "one two three ".repeat(at % 90)),
            };
            let data: String = (0..1500 + 40 * source).map(line).collect();
            corpus.add_jsonl_data(source as u32, data.into_bytes(), &columns, 1);
        }
        corpus
    }

    /// The sketches from `from` to `to`.
    fn sketched(corpus: &Corpus, plan: &SketchPlan, from: usize, to: usize) -> Owned {
        let count = to - from;
        let mut keys = vec![1; count * 2 * plan.bands];
        let (mut content, mut sizes, mut units) = (vec![[1; 2]; count], vec![1; 2 * count], vec![1; 2 * count]);
        let out = Sketches { keys: &mut keys, content: &mut content, sizes: &mut sizes, units: &mut units };
        corpus.sketch(plan, from, out);
        (keys, content, sizes, units)
    }

    #[test]
    fn what_was_made_ahead_is_what_is_made_later() {
        let plain = corpus(None);
        let count = plain.len();
        for wanted in [plan(0), plan(1)] {
            let want = sketched(&plain, &wanted, 0, count);
            // At once, twice, and in pieces that end within and across what was made together; or by another plan.
            let ahead = corpus(Some(plan(0)));
            assert_eq!(sketched(&ahead, &wanted, 0, count), want);
            assert_eq!(sketched(&ahead, &wanted, 0, count), want);
            let ahead = corpus(Some(plan(0)));
            for step in [700, 1] {
                for from in (0..count).step_by(step * 13) {
                    let to = (from + step * 13).min(count);
                    let found = sketched(&ahead, &wanted, from, to);
                    assert_eq!(found.0, want.0[from * 8..to * 8]);
                    assert_eq!(found.1, want.1[from..to]);
                    assert_eq!(
                        (found.2, found.3),
                        (want.2[from * 2..to * 2].to_vec(), want.3[from * 2..to * 2].to_vec())
                    );
                }
            }
        }
    }

    #[test]
    fn what_was_handed_out_to_its_end_is_not_kept() {
        let ahead = corpus(Some(plan(0)));
        let parts = || ahead.ahead.as_ref().unwrap().parts().len();
        assert!(parts() >= 3);
        sketched(&ahead, &plan(0), 0, ahead.len());
        assert_eq!(parts(), 0);
    }
}

//! Storage of the documents during a run.
//!
//! Documents are stored by position, in input order: each field of each document is a span of bytes in a buffer,
//! which is memory of the corpus or a mapped file. Texts are not changed; shingles are computed when they are needed
//! and not stored.

mod add;
mod ahead;
mod columns;
mod compare;
mod copy;
mod digest;
mod exact;
mod families;
mod held;
mod identical;
mod ids;
mod mapped;
mod sketch;
mod table;

use crate::isa;
use crate::jsonl::unescape;
use crate::text::Reader;
use crate::watch;
use ahead::Ahead;
use held::{ESCAPED, INTEGER, Places, Span, Sparse};
use mapped::MappedFile;
use std::ops::Range;

pub use add::{Batch, JsonlColumns, JsonlReport, MAX_TEXT, RowFault};
pub use columns::{IdColumn, SharedBytes, TextColumn};
pub use compare::Batches;
pub use exact::Neighbours;
pub use families::{Families, FamilyPairs};
pub use mapped::{InputChanged, catch_bus_errors};
pub use sketch::{SketchPlan, Sketches, TextScratch, sketch_text};
pub use table::{Cells, write_json_lines};

/// Bytes of documents.
enum Buffer {
    Owned(Vec<u8>),
    Mapped(MappedFile),
    Shared(SharedBytes),
}

impl Buffer {
    fn len(&self) -> usize {
        match self {
            Buffer::Owned(bytes) => bytes.len(),
            Buffer::Mapped(file) => file.len(),
            Buffer::Shared(bytes) => (**bytes).as_ref().len(),
        }
    }

    fn raw(&self, range: Range<usize>) -> Raw<'_> {
        match self {
            Buffer::Owned(bytes) => Raw::Memory(&bytes[range]),
            Buffer::Mapped(file) => Raw::File(file, range),
            Buffer::Shared(bytes) => Raw::Memory(&(**bytes).as_ref()[range]),
        }
    }
}

/// Some bytes of a buffer.
enum Raw<'a> {
    Memory(&'a [u8]),
    File(&'a MappedFile, Range<usize>),
}

impl<'a> Raw<'a> {
    /// The bytes as they are in memory; those of a file are copied into `copy`.
    fn bytes(self, copy: &'a mut Vec<u8>) -> &'a [u8] {
        match self {
            Raw::Memory(bytes) => bytes,
            Raw::File(file, range) => file.read(range, copy),
        }
    }

    /// The bytes, decoded if they hold JSON escapes, as `span` says.
    fn decoded(self, span: Span, scratch: &'a mut RawScratch) -> &'a [u8] {
        let RawScratch { copy, decoded } = scratch;
        let bytes = self.bytes(copy);
        if span.flags() & ESCAPED == 0 {
            return bytes;
        }
        unescape(bytes, decoded, isa::current());
        decoded
    }

    /// The text that they stand for. A file that changed may hold any bytes: then this unwinds with [`InputChanged`].
    fn text(self, span: Span, scratch: &'a mut RawScratch) -> &'a str {
        let file = if let Raw::File(file, _) = &self { Some(*file) } else { None };
        match (simdutf8::basic::from_utf8(self.decoded(span, scratch)), file) {
            (Ok(text), _) => text,
            (Err(_), Some(file)) => file.changed(),
            (Err(_), None) => unreachable!("texts in memory were checked when they came"),
        }
    }
}

/// Buffers to read [`Raw`] bytes with.
#[derive(Default)]
struct RawScratch {
    copy: Vec<u8>,
    decoded: Vec<u8>,
}

/// One field of all documents.
enum Column {
    Text { reader: Reader, spans: Vec<Span> },
    Values { ends: Vec<u64>, hashes: Vec<u64>, missing: Vec<bool> },
}

/// How a field is read.
pub enum FieldKind {
    /// A text, by a reader.
    Text(Reader),
    /// A set of values.
    Values,
}

/// An id as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
}

/// Documents by position.
pub struct Corpus {
    buffers: Vec<Buffer>,
    /// Where each buffer begins if all lie behind one another, and at last where a further one would.
    starts: Vec<u64>,
    columns: Vec<Column>,
    ids: Sparse,
    extras: Sparse,
    places: Places,
    names: Vec<String>,
    ahead: Option<Ahead>,
}

impl Corpus {
    /// An empty corpus with the given fields.
    pub fn new(fields: Vec<FieldKind>) -> Corpus {
        let columns = fields.into_iter().map(|field| match field {
            FieldKind::Text(reader) => Column::Text { reader, spans: Vec::new() },
            FieldKind::Values => Column::Values { ends: vec![0], hashes: Vec::new(), missing: Vec::new() },
        });
        Corpus {
            buffers: Vec::new(),
            starts: vec![0],
            columns: columns.collect(),
            ids: Sparse::default(),
            extras: Sparse::default(),
            places: Places::default(),
            names: Vec::new(),
            ahead: None,
        }
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of fields.
    pub fn fields(&self) -> usize {
        self.columns.len()
    }

    /// The source of each document.
    pub fn sources(&self) -> impl Iterator<Item = u32> {
        self.places.each().flat_map(|run| std::iter::repeat_n(run.source, run.len as usize))
    }

    /// The row of each document in its source, from 1.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        self.places.each().flat_map(|run| run.row..run.row + u64::from(run.len))
    }

    /// The extra value at a position, as JSON text.
    pub fn extra(&self, position: usize) -> Option<Vec<u8>> {
        let span = self.extras.get(position);
        (!span.is_missing()).then(|| self.raw(span).bytes(&mut Vec::new()).to_vec())
    }

    /// The text of a field; none where it is missing or no text.
    pub fn text(&self, position: usize, field: usize) -> Option<String> {
        let Column::Text { spans, .. } = &self.columns[field] else { return None };
        let span = spans[position];
        (!span.is_missing()).then(|| self.text_of(span, &mut RawScratch::default()).to_owned())
    }

    /// The texts of a field of some documents behind one another, and where each begins and ends. A document without
    /// one has an empty one; this also applies to all documents if the field is not a text.
    pub fn texts(&self, positions: &[u32], field: usize) -> (Vec<i64>, Vec<u8>) {
        let mut ends = vec![0];
        let mut texts = Vec::new();
        let mut scratch = RawScratch::default();
        for &position in positions {
            if let Column::Text { spans, .. } = &self.columns[field] {
                texts.extend_from_slice(self.text_of(spans[position as usize], &mut scratch).as_bytes());
            }
            ends.push(texts.len() as i64);
        }
        (ends, texts)
    }

    /// The bytes (values: the number of elements) of all fields of a document together, as they are in memory: with
    /// the escapes of a JSON file. See [`Corpus::text_sizes`] for a number that does not depend on these.
    pub fn size(&self, position: usize) -> u64 {
        let sizes = self.columns.iter().map(|column| match column {
            Column::Text { spans, .. } => u64::from(spans[position].len()),
            Column::Values { ends, .. } => ends[position + 1] - ends[position],
        });
        sizes.sum()
    }

    /// The buffer in which a span lies, and where that begins; none for an empty span behind the last byte.
    fn buffer(&self, span: Span) -> Option<(&Buffer, u64)> {
        // Nearly always there is one buffer, or few.
        let number = self.starts.partition_point(|&start| start <= span.start()) - 1;
        self.buffers.get(number).map(|buffer| (buffer, self.starts[number]))
    }

    fn raw(&self, span: Span) -> Raw<'_> {
        let Some((buffer, first)) = self.buffer(span) else { return Raw::Memory(&[]) };
        let start = (span.start() - first) as usize;
        buffer.raw(start..start + span.len() as usize)
    }

    /// Keeps the bytes that spans from [`Corpus::next_start`] on are of.
    fn keep(&mut self, buffer: Buffer) {
        self.starts.push(self.next_start() + buffer.len() as u64);
        self.buffers.push(buffer);
    }

    /// Where the spans of the next buffer begin.
    fn next_start(&self) -> u64 {
        self.starts[self.buffers.len()]
    }

    /// The text of a span, empty where it is missing. Whatever reads many of them can be stopped here.
    ///
    /// Unwinds with [`InputChanged`] where a mapped file has changed since it was read.
    fn text_of<'a>(&'a self, span: Span, scratch: &'a mut RawScratch) -> &'a str {
        watch::look();
        if span.is_missing() { "" } else { self.raw(span).text(span, scratch) }
    }

    /// Unwinds with [`InputChanged`] where a mapped file was truncated, whether or not that part of it was read.
    pub fn check_files(&self) {
        for buffer in &self.buffers {
            if let Buffer::Mapped(file) = buffer {
                file.check();
            }
        }
    }
}

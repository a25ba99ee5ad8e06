//! Where do the documents lie while a job runs?
//!
//! By position, in the order they came: each field of each document is a span of bytes in a buffer, which is memory of
//! the corpus or a mapped file. Texts stay as they are; shingles are made when they are needed and not kept.

mod add;
mod compare;
mod digest;
mod exact;
mod sketch;

use crate::hash::shingle::token_hash;
use crate::isa;
use crate::jsonl::unescape;
use crate::text::Reader;
use memmap2::Mmap;
use rayon::prelude::*;

pub use add::{Batch, JsonlColumns, JsonlReport, MAX_TEXT, RowFault};
pub use compare::{Batches, FieldSimilarities, Weights};
pub use exact::Neighbours;
pub use sketch::{SketchPlan, Sketches};

/// Bytes that documents lie in.
enum Buffer {
    Owned(Vec<u8>),
    Mapped(Mmap),
}

impl Buffer {
    fn bytes(&self) -> &[u8] {
        match self {
            Buffer::Owned(bytes) => bytes,
            Buffer::Mapped(map) => map,
        }
    }
}

const ESCAPED: u32 = 1 << 31;
const INTEGER: u32 = 1 << 30;

/// Some bytes of a buffer; the buffer's number carries two flags.
#[derive(Clone, Copy)]
struct Span {
    start: u64,
    len: u32,
    buffer: u32,
}

impl Span {
    const MISSING: Span = Span { start: 0, len: 0, buffer: u32::MAX };

    fn is_missing(self) -> bool {
        self.buffer == u32::MAX
    }
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

impl Id {
    /// The hash that an id of this text has wherever it comes from.
    fn hashed(&self) -> u64 {
        match self {
            Id::Text(text) => token_hash(text.as_bytes()),
            Id::Integer(number) => u64::from(INTEGER) ^ token_hash(number.to_string().as_bytes()),
        }
    }
}

/// Documents by position.
pub struct Corpus {
    buffers: Vec<Buffer>,
    columns: Vec<Column>,
    ids: Vec<Span>,
    extras: Vec<Span>,
    sources: Vec<u32>,
    rows: Vec<u64>,
    names: Vec<String>,
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
            columns: columns.collect(),
            ids: Vec::new(),
            extras: Vec::new(),
            sources: Vec::new(),
            rows: Vec::new(),
            names: Vec::new(),
        }
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The number of fields.
    pub fn fields(&self) -> usize {
        self.columns.len()
    }

    /// The source of each document.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// The row of each document in its source, from 1.
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The id at a position: as given, or made from the source's name and the row.
    pub fn id(&self, position: usize) -> Id {
        let span = self.ids[position];
        if span.is_missing() {
            let name = self.names.get(self.sources[position] as usize).map_or("", String::as_str);
            return Id::Text(format!("{name}:{}", self.rows[position]));
        }
        let mut scratch = Vec::new();
        let text = String::from_utf8_lossy(self.bytes(span, &mut scratch)).into_owned();
        match text.parse() {
            Ok(number) if span.buffer & INTEGER != 0 => Id::Integer(number),
            _ => Id::Text(text),
        }
    }

    /// Two positions with the same id, if there are any: the lowest second position that repeats an earlier one.
    pub fn duplicate_id(&self) -> Option<(usize, usize)> {
        let hash = |position: usize| {
            let span = self.ids[position];
            if span.is_missing() {
                return self.id(position).hashed();
            }
            let plain = span.buffer & (ESCAPED | INTEGER) == 0;
            if plain { token_hash(self.raw(span)) } else { self.id(position).hashed() }
        };
        let mut hashed: Vec<(u64, u32)> = (0..self.len()).into_par_iter().map(|i| (hash(i), i as u32)).collect();
        hashed.par_sort_unstable();
        let same = hashed.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let pairs = same.map(|pair| (pair[0].1 as usize, pair[1].1 as usize));
        pairs.filter(|&(a, b)| self.id(a) == self.id(b)).min_by_key(|&(_, second)| second)
    }

    /// The extra value at a position, as JSON text.
    pub fn extra(&self, position: usize) -> Option<Vec<u8>> {
        let span = *self.extras.get(position)?;
        (!span.is_missing()).then(|| self.raw(span).to_vec())
    }

    /// The text of a field; none where it is missing or no text.
    pub fn text(&self, position: usize, field: usize) -> Option<String> {
        let Column::Text { spans, .. } = &self.columns[field] else { return None };
        let mut scratch = Vec::new();
        let span = spans[position];
        (!span.is_missing()).then(|| String::from_utf8_lossy(self.bytes(span, &mut scratch)).into_owned())
    }

    /// The bytes (values: the number of elements) of all fields of a document together, as they lie in memory: with
    /// the escapes of a JSON file. See [`Corpus::text_sizes`] for a number that does not depend on these.
    pub fn size(&self, position: usize) -> u64 {
        let sizes = self.columns.iter().map(|column| match column {
            Column::Text { spans, .. } => u64::from(spans[position].len),
            Column::Values { ends, .. } => ends[position + 1] - ends[position],
        });
        sizes.sum()
    }

    fn raw(&self, span: Span) -> &[u8] {
        let start = span.start as usize;
        &self.buffers[(span.buffer & (INTEGER - 1)) as usize].bytes()[start..start + span.len as usize]
    }

    /// The bytes of a span, decoded into `scratch` if they hold JSON escapes.
    fn bytes<'a>(&'a self, span: Span, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        let raw = self.raw(span);
        if span.buffer & ESCAPED == 0 {
            return raw;
        }
        unescape(raw, scratch, isa::current());
        scratch
    }

    /// The text of a span, empty where it is missing.
    ///
    /// # Panics
    /// Where a mapped file has changed since it was read, so that the text is no UTF-8 any more.
    fn text_of<'a>(&'a self, span: Span, scratch: &'a mut Vec<u8>) -> &'a str {
        if span.is_missing() {
            return "";
        }
        let checked = simdutf8::basic::from_utf8(self.bytes(span, scratch));
        checked.expect("the input file changed while it was being read")
    }
}

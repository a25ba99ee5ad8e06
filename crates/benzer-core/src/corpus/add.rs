//! Adds documents to a corpus.

use super::ahead::{Follower, Made};
use super::held::Places;
use super::mapped::MappedFile;
use super::{Buffer, Column, Corpus, ESCAPED, INTEGER, Id, Span};
use crate::isa;
use crate::jsonl::{Malformed, Row, Value, newline_from, scan, scan_rest, split_points};
use crate::watch;
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The longest text, in bytes: places in a text are 32-bit numbers, and kernels read a little past its end.
pub const MAX_TEXT: usize = u32::MAX as usize - 128;

/// Pieces of about this many bytes are scanned in parallel.
const PIECE: usize = 4 << 20;

/// Bytes of a mapped file that are copied at once: they are still in the cache when they are scanned.
const BLOCK: usize = 256 << 10;

/// Pieces whose documents are stored a second time until they are appended.
const TOGETHER: usize = 64;

/// The members of a row that contain fields, id and extra value.
pub struct JsonlColumns<'a> {
    /// The member of each text field, in the corpus's order of fields.
    pub fields: &'a [String],
    /// The member that holds the id; ids are made from name and row without it.
    pub id: Option<&'a str>,
    /// Whether a row without an id is malformed; otherwise its id is made.
    pub id_required: bool,
    /// A further member whose value is kept as it stands.
    pub extra: Option<&'a str>,
}

/// A row that could not be read as a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    /// Line of the row in its source, from 1.
    pub row: u64,
    /// The error.
    pub reason: String,
}

/// The outcome of the rows of a piece of JSONL.
#[derive(Debug, Default)]
pub struct JsonlReport {
    /// Lines seen, blank ones included.
    pub lines: u64,
    /// Rows that became documents.
    pub documents: u64,
    /// Rows that did not, in their order.
    pub faults: Vec<RowFault>,
}

/// The documents of one piece.
#[derive(Default)]
struct Piece {
    lines: u64,
    places: Places,
    /// None where there is no column of ids; so with extra values.
    ids: Vec<Span>,
    extras: Vec<Span>,
    /// Field after field for each document.
    texts: Vec<Span>,
    faults: Vec<RowFault>,
    made: Option<Made>,
}

impl Corpus {
    /// Registers a source by the name that made ids begin with, and gives its number.
    pub fn name_source(&mut self, number: u32, name: &str) {
        let number = number as usize;
        if self.names.len() <= number {
            self.names.resize(number + 1, String::new());
        }
        name.clone_into(&mut self.names[number]);
    }

    /// Adds the rows of a JSONL file, which is mapped; its first line is row `first_row`. Where it changes before the
    /// corpus is gone, that is noticed when its texts are read, as far as it matters to their soundness; see also
    /// [`Corpus::check_files`].
    ///
    /// Unwinds with [`super::InputChanged`] where the file is truncated meanwhile.
    pub fn add_jsonl_file(
        &mut self, source: u32, path: &Path, columns: &JsonlColumns<'_>, first_row: u64,
    ) -> std::io::Result<JsonlReport> {
        let given = self.names.get(source as usize).filter(|name| !name.is_empty());
        let name = given.map_or_else(|| path.to_string_lossy().into_owned(), String::clone);
        Ok(match MappedFile::open(path, &name)? {
            Some(file) => self.add_jsonl(source, Buffer::Mapped(file), columns, first_row),
            None => JsonlReport::default(),
        })
    }

    /// Adds the rows of JSONL data that begins at the start of a line, that of row `first_row`. A byte order mark is
    /// ignored before row 1 only.
    pub fn add_jsonl_data(
        &mut self, source: u32, data: Vec<u8>, columns: &JsonlColumns<'_>, first_row: u64,
    ) -> JsonlReport {
        self.add_jsonl(source, Buffer::Owned(data), columns, first_row)
    }

    fn add_jsonl(&mut self, source: u32, buffer: Buffer, columns: &JsonlColumns<'_>, first_row: u64) -> JsonlReport {
        let start = self.next_start();
        let size = buffer.len();
        let borders = split_points(size, size / PIECE + 1, |at| buffer.newline_from(at));
        let parts: Vec<[usize; 2]> = borders.windows(2).map(|pair| [pair[0], pair[1]]).collect();
        let mut report = JsonlReport::default();
        watch::begin(size);
        // Before its documents, so that a stop in between leaves no document without its bytes.
        self.keep(buffer);
        let number = self.buffers.len() - 1;
        let names = columns.fields.iter().map(String::as_str).chain(columns.id).chain(columns.extra);
        let names: Vec<&[u8]> = names.map(str::as_bytes).collect();
        let copies: Mutex<Vec<Vec<u8>>> = Mutex::default();
        let copies = || copies.lock().unwrap_or_else(PoisonError::into_inner);
        for parts in parts.chunks(TOGETHER) {
            let buffer = &self.buffers[number];
            let read = |&[from, to]: &[usize; 2]| {
                let mut copy = copies().pop().unwrap_or_default();
                if let Buffer::Mapped(file) = buffer {
                    file.fetch(from..to);
                }
                let mut reading =
                    Reading { columns, names: &names, follower: self.follower(), piece: Piece::default() };
                let mut at = from;
                while at < to {
                    let data = buffer.lines(at..to, &mut copy);
                    reading.scan(data, start + at as u64, first_row == 1 && at == 0);
                    at += data.len();
                }
                copies().push(copy);
                watch::tick(to - from);
                reading.finish()
            };
            let pieces: Vec<Piece> = parts.par_iter().map(read).collect();
            for piece in pieces {
                self.append(source, piece, first_row + report.lines, &mut report);
            }
        }
        if let Buffer::Mapped(file) = &self.buffers[number] {
            file.check(); // before a truncated line is reported as malformed
        }
        report
    }

    fn append(&mut self, source: u32, piece: Piece, first_row: u64, report: &mut JsonlReport) {
        report.lines += piece.lines;
        report.documents += piece.places.len() as u64;
        report.faults.extend(piece.faults.into_iter().map(|fault| RowFault { row: fault.row + first_row, ..fault }));
        self.keep_made(piece.made);
        self.ids.append(self.places.len(), &piece.ids);
        self.extras.append(self.places.len(), &piece.extras);
        self.places.append(source, &piece.places, first_row);
        let fields = self.columns.len();
        for (at, column) in self.columns.iter_mut().enumerate() {
            if let Column::Text { spans, .. } = column {
                spans.extend(piece.texts.iter().skip(at).step_by(fields));
            }
        }
    }

    /// Begins a batch of documents that come one by one; [`Batch::finish`] adds it.
    pub fn batch(&self) -> Batch {
        let texts = self.columns.iter().map(|_| Vec::new()).collect();
        Batch { start: self.next_start(), bytes: Vec::new(), ids: Vec::new(), extras: Vec::new(), texts }
    }

    /// Adds a batch: its ids, its texts, and the hashes of its value sets, field by field (none: a missing field).
    pub fn add_batch(&mut self, source: u32, rows: &[u64], batch: Batch, values: Vec<Vec<Option<Vec<u64>>>>) {
        self.ids.append(self.places.len(), &batch.ids);
        self.extras.append(self.places.len(), &batch.extras);
        rows.iter().for_each(|&row| self.places.push(source, row));
        let mut values = values.into_iter();
        for (column, texts) in self.columns.iter_mut().zip(batch.texts) {
            match column {
                Column::Text { spans, .. } => spans.extend(texts),
                Column::Values { ends, hashes, missing } => {
                    for set in values.next().unwrap_or_default() {
                        missing.push(set.is_none());
                        hashes.extend(set.unwrap_or_default());
                        ends.push(hashes.len() as u64);
                    }
                }
            }
        }
        self.keep(Buffer::Owned(batch.bytes));
    }
}

/// Documents on their way into a corpus.
pub struct Batch {
    start: u64,
    bytes: Vec<u8>,
    ids: Vec<Span>,
    extras: Vec<Span>,
    texts: Vec<Vec<Span>>,
}

impl Batch {
    fn keep(&mut self, bytes: &[u8], flags: u32) -> Span {
        let start = self.start + self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        Span::new(start, bytes.len() as u32, flags)
    }

    /// The next document's id; none to have one made.
    pub fn id(&mut self, id: Option<Id>) {
        let span = match id {
            Some(Id::Text(text)) => self.keep(text.as_bytes(), 0),
            Some(Id::Integer(number)) => self.keep(number.to_string().as_bytes(), INTEGER),
            None => Span::MISSING,
        };
        self.ids.push(span);
    }

    /// The ids of the next documents, each a span of a buffer of the corpus.
    pub(super) fn id_spans(&mut self, spans: Vec<Span>) {
        self.ids.extend(spans);
    }

    /// The next documents' texts of a field, each a span of a buffer of the corpus.
    pub(super) fn text_spans(&mut self, field: usize, spans: Vec<Span>) {
        self.texts[field].extend(spans);
    }

    /// The next document's text of a field.
    pub fn text(&mut self, field: usize, text: Option<&str>) {
        let span = text.map_or(Span::MISSING, |text| self.keep(text.as_bytes(), 0));
        self.texts[field].push(span);
    }

    /// The next document's extra value, as JSON text.
    pub fn extra(&mut self, value: Option<&[u8]>) {
        let span = value.map_or(Span::MISSING, |value| self.keep(value, 0));
        self.extras.push(span);
    }
}

impl Buffer {
    /// The offset of the first newline at or after `at`; the end if there is none.
    fn newline_from(&self, at: usize) -> usize {
        match self {
            Buffer::Owned(bytes) => newline_from(bytes, at),
            Buffer::Mapped(file) => file.newline_from(at),
            Buffer::Shared(bytes) => newline_from((**bytes).as_ref(), at),
        }
    }

    /// The first lines of a range that ends where a line does, one at least; those of a file are copied into `copy`.
    fn lines<'a>(&'a self, range: Range<usize>, copy: &'a mut Vec<u8>) -> &'a [u8] {
        let Buffer::Mapped(file) = self else { return self.raw(range).bytes(copy) };
        copy.clear();
        let mut at = range.start;
        loop {
            let end = range.end.min(at + BLOCK);
            file.append_to(copy, at..end);
            let last = copy[at - range.start..].iter().rposition(|&byte| byte == b'\n');
            if let (true, Some(newline)) = (end < range.end, last) {
                copy.truncate(at - range.start + newline + 1);
            }
            if end == range.end || last.is_some() {
                return copy;
            }
            at = end;
        }
    }
}

/// A piece that is being read.
struct Reading<'a> {
    columns: &'a JsonlColumns<'a>,
    /// The members to look for: those of the fields, then id and extra value.
    names: &'a [&'a [u8]],
    follower: Option<Follower<'a>>,
    piece: Piece,
}

impl Reading<'_> {
    /// Reads the next lines, whose spans begin at `start`; `first` where they are the first of the source.
    fn scan(&mut self, data: &[u8], start: u64, first: bool) {
        let Reading { columns, names, follower, piece } = self;
        let before = piece.lines;
        let visit = |line: Result<Row<'_>, Malformed>| {
            match line {
                Ok(row) => {
                    let row = Row { line: before + row.line, ..row };
                    let taken = take(data, &row, start, columns, piece);
                    if let (true, Some(follower)) = (taken, &mut *follower) {
                        follower.follow(&piece.texts, data, start);
                    }
                }
                Err(Malformed { line, reason, .. }) => piece.faults.push(RowFault { row: before + line, reason }),
            }
            Ok::<(), ()>(())
        };
        let isa = isa::current();
        let lines = if first { scan(data, names, isa, visit) } else { scan_rest(data, names, isa, visit) };
        if let Some(follower) = follower {
            follower.sketch(&piece.texts, data, start);
        }
        piece.lines += lines.unwrap_or_default();
    }

    fn finish(mut self) -> Piece {
        self.piece.made = self.follower.map(Follower::finish);
        self.piece
    }
}

/// Adds a row as a document, or records its error; returns which.
fn take(data: &[u8], row: &Row<'_>, base: u64, columns: &JsonlColumns<'_>, piece: &mut Piece) -> bool {
    let spans = match fraction_as_id(data, row, columns) {
        Some(reason) => Err(reason),
        None => spans_of(row, base, columns, &mut piece.texts),
    };
    match spans {
        Ok((id, extra)) => {
            if columns.id.is_some() {
                piece.ids.push(id);
            }
            if columns.extra.is_some() {
                piece.extras.push(extra);
            }
            piece.places.push(0, row.line);
            true
        }
        Err(reason) => {
            piece.texts.truncate(piece.places.len() * columns.fields.len());
            piece.faults.push(RowFault { row: row.line, reason });
            false
        }
    }
}

/// The error for an id that is not a 64-bit integer.
fn fraction_as_id(data: &[u8], row: &Row<'_>, columns: &JsonlColumns<'_>) -> Option<String> {
    columns.id?;
    let value = row.values[columns.fields.len()];
    let Value::Number { .. } = value else { return None };
    let text = String::from_utf8_lossy(value.raw(data)).into_owned();
    text.parse::<i64>().is_err().then(|| format!("the id {text} is neither text nor an integer of 64 bits"))
}

fn spans_of(
    row: &Row<'_>, base: u64, columns: &JsonlColumns<'_>, texts: &mut Vec<Span>,
) -> Result<(Span, Span), String> {
    let (fields, others) = row.values.split_at(columns.fields.len());
    for (value, name) in fields.iter().zip(columns.fields) {
        texts.push(text_span(*value, base, name)?);
    }
    let id = match columns.id {
        Some(name) => id_span(others[0], base, name, columns.id_required)?,
        None => Span::MISSING,
    };
    let extra = match (columns.extra, others.last()) {
        (Some(_), Some(&value)) => extra_span(value, base)?,
        _ => Span::MISSING,
    };
    Ok((id, extra))
}

fn span(start: usize, len: usize, base: u64, flags: u32) -> Result<Span, String> {
    if len > MAX_TEXT {
        return Err(format!("a value of {len} bytes; the limit is {MAX_TEXT}"));
    }
    Ok(Span::new(base + start as u64, len as u32, flags))
}

fn text_span(value: Value, base: u64, name: &str) -> Result<Span, String> {
    match value {
        Value::Text { start, len, escaped } => span(start, len, base, if escaped { ESCAPED } else { 0 }),
        Value::Null => Ok(Span::MISSING),
        Value::Missing => Err(format!("no column \"{name}\"")),
        Value::Number { .. } | Value::Other { .. } => Err(format!("column \"{name}\" is not text")),
    }
}

fn id_span(value: Value, base: u64, name: &str, required: bool) -> Result<Span, String> {
    match value {
        Value::Text { start, len, escaped } => span(start, len, base, if escaped { ESCAPED } else { 0 }),
        Value::Number { start, len } => span(start, len, base, INTEGER),
        Value::Missing | Value::Null if !required => Ok(Span::MISSING),
        Value::Missing | Value::Null => Err(format!("no id in column \"{name}\"")),
        Value::Other { .. } => Err(format!("the id in column \"{name}\" is neither text nor an integer")),
    }
}

fn extra_span(value: Value, base: u64) -> Result<Span, String> {
    match value {
        // With its quotes, so that it stays JSON.
        Value::Text { start, len, .. } => span(start - 1, len + 2, base, 0),
        Value::Number { start, len } | Value::Other { start, len } => span(start, len, base, 0),
        Value::Missing | Value::Null => Ok(Span::MISSING),
    }
}

//! How are chosen rows of a mapped file copied out, byte for byte?
//!
//! A document says where its values lie; its line is what stands between the newlines about them, so that the file is
//! not read again to find its lines. Neighbouring rows go out in one piece, and many pieces in one call to the system.

use super::{Buffer, Column, Corpus, Span};
use crate::jsonl::newline_from;
use crate::watch;
use std::io::{IoSlice, Result, Write};

const BOM: &[u8] = b"\xef\xbb\xbf";
/// Pieces handed to the system at once: as many as Linux takes.
const PIECES: usize = 1024;
/// Bytes handed to it at once, between two looks at whether to stop.
const BYTES: usize = 16 << 20;

/// A place in a file of lines: this line (from 1) begins at this byte.
#[derive(Clone, Copy)]
struct Place {
    line: u64,
    at: usize,
}

impl Corpus {
    /// Writes the lines of those documents of a source that `keep` names, in their order and as they stand in the file,
    /// after its byte order mark.
    ///
    /// False, with nothing written, where the source is not one mapped file whose rows are its lines, or `keep` is not
    /// as long as the source has documents.
    pub fn copy_lines(&self, source: u32, keep: &[bool], out: &mut impl Write) -> Result<bool> {
        let first = self.sources.iter().position(|&one| one == source).unwrap_or(0);
        let last = self.sources.iter().rposition(|&one| one == source).map_or(0, |at| at + 1);
        if last - first != keep.len() || self.sources[first..last].iter().any(|&one| one != source) {
            return Ok(false);
        }
        let Some(data) = (first..last).find_map(|at| self.anchors(at)).and_then(|[low, _]| self.mapped(low)) else {
            return Ok(false);
        };
        let mut pieces = Pieces { out, waiting: Vec::with_capacity(PIECES), bytes: 0 };
        let start = if data.starts_with(BOM) { BOM.len() } else { 0 };
        pieces.add(&data[..start])?;
        let mut place = Place { line: 1, at: start };
        let mut next = 0;
        while next < keep.len() {
            if !keep[next] {
                next += 1;
                continue;
            }
            let rows = &self.rows[first..last];
            let mut end = next + 1;
            while end < keep.len() && keep[end] && rows[end] == rows[end - 1] + 1 {
                end += 1;
            }
            let from = self.line_start(data, first + next, place);
            place = self.line_end(data, first + end - 1, from);
            pieces.add(&data[from.at..place.at])?;
            next = end;
        }
        pieces.flush()?;
        Ok(true)
    }

    /// The first and the last value of a document that lie in a buffer.
    fn anchors(&self, position: usize) -> Option<[Span; 2]> {
        let texts = self.columns.iter().filter_map(|column| match column {
            Column::Text { spans, .. } => Some(spans[position]),
            Column::Values { .. } => None,
        });
        let all = texts.chain([self.ids[position]]).chain(self.extras.get(position).copied());
        let mut found: Option<[Span; 2]> = None;
        for span in all.filter(|span| !span.is_missing()) {
            let [low, high] = found.unwrap_or([span; 2]);
            let low = if span.start < low.start { span } else { low };
            let high = if span.start > high.start { span } else { high };
            found = Some([low, high]);
        }
        found
    }

    /// The whole file in which a span lies; none where that is no mapped file.
    fn mapped(&self, span: Span) -> Option<&[u8]> {
        match self.buffer(span) {
            Buffer::Mapped(map) => Some(map),
            Buffer::Owned(_) => None,
        }
    }

    /// Where the line of a document begins; without a value of its own it is found by counting lines.
    fn line_start(&self, data: &[u8], position: usize, known: Place) -> Place {
        let line = self.rows[position];
        if let Some([low, _]) = self.anchors(position) {
            let before = &data[known.at..low.start as usize];
            let at = known.at + before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
            return Place { line, at };
        }
        lines_on(data, known, line)
    }

    /// Where the line after that of a document begins, which is not before a known place.
    fn line_end(&self, data: &[u8], position: usize, known: Place) -> Place {
        let line = self.rows[position] + 1;
        if let Some([_, high]) = self.anchors(position) {
            let newline = newline_from(data, high.start as usize + high.len as usize);
            return Place { line, at: (newline + 1).min(data.len()) };
        }
        lines_on(data, known, line)
    }
}

/// The place of a line that is not before a known one.
fn lines_on(data: &[u8], known: Place, line: u64) -> Place {
    let skip = |at, _| (newline_from(data, at) + 1).min(data.len());
    Place { line, at: (known.line..line).fold(known.at, skip) }
}

/// Pieces on their way out.
struct Pieces<'a, W> {
    out: W,
    waiting: Vec<IoSlice<'a>>,
    bytes: usize,
}

impl<'a, W: Write> Pieces<'a, W> {
    fn add(&mut self, piece: &'a [u8]) -> Result<()> {
        for part in piece.chunks(BYTES) {
            self.waiting.push(IoSlice::new(part));
            self.bytes += part.len();
            if self.waiting.len() == PIECES || self.bytes >= BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        watch::look();
        let mut rest = &mut self.waiting[..];
        while !rest.is_empty() {
            match self.out.write_vectored(rest) {
                Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut rest, written),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => watch::look(),
                Err(error) => return Err(error),
            }
        }
        self.waiting.clear();
        self.bytes = 0;
        Ok(())
    }
}

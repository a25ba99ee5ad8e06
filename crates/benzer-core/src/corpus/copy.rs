//! Copies selected rows of a mapped file, byte for byte.
//!
//! A document stores the positions of its values; its line is delimited by the newlines around them, so the file is
//! not read again to find its lines. Adjacent rows are copied in one piece, and written together with others.

use super::held::Span;
use super::mapped::MappedFile;
use super::{Buffer, Column, Corpus};
use crate::watch;
use std::io::{Result, Write};
use std::ops::Range;

const BOM: &[u8] = b"\xef\xbb\xbf";
/// Bytes handed to the system at once, between two looks at whether to stop.
const BYTES: usize = 1 << 20;

/// A place in a file of lines: this line (from 1) begins at this byte.
#[derive(Clone, Copy)]
struct Place {
    line: u64,
    at: usize,
}

impl Corpus {
    /// Writes the lines of the documents of a source that `keep` selects, in their order and unchanged, after the
    /// byte order mark of the file.
    ///
    /// False, with nothing written, if the source is not one mapped file whose rows are its lines, or `keep` is not
    /// as long as the source has documents.
    pub fn copy_lines(&self, source: u32, keep: &[bool], out: &mut impl Write) -> Result<bool> {
        let Some(stretches) = self.stretches(source, keep) else { return Ok(false) };
        let mut values = stretches.iter().flat_map(|one| one.documents.clone()).filter_map(|at| self.anchors(at));
        let Some(file) = values.next().and_then(|[low, _]| self.mapped(low)) else { return Ok(false) };
        let mut pieces = Pieces { file: file.data, out, waiting: Vec::with_capacity(BYTES) };
        let head = 0..BOM.len().min(file.data.len());
        let start = if file.data.read(head, &mut Vec::new()) == BOM { BOM.len() } else { 0 };
        pieces.add(0..start)?;
        let mut place = Place { line: 1, at: start };
        for Stretch { documents, row, kept } in stretches {
            let mut from = 0;
            for together in kept.chunk_by(|a, b| a == b) {
                let to = from + together.len();
                if together[0] {
                    let first = self.line_start(file, documents.start + from, row + from as u64, place);
                    place = self.line_end(file, documents.start + to - 1, row + to as u64, first);
                    pieces.add(first.at..place.at)?;
                }
                from = to;
            }
        }
        pieces.flush()?;
        Ok(true)
    }

    /// The documents of a source where their rows are neighbours; none where `keep` is not about just these.
    fn stretches<'a>(&self, source: u32, mut keep: &'a [bool]) -> Option<Vec<Stretch<'a>>> {
        let (mut found, mut next) = (Vec::new(), 0);
        for run in self.places.each() {
            let documents = next..next + run.len as usize;
            next = documents.end;
            if run.source == source {
                let kept = keep.split_off(..documents.len())?;
                found.push(Stretch { documents, row: run.row, kept });
            }
        }
        keep.is_empty().then_some(found)
    }

    /// The first and the last value of a document within a buffer.
    fn anchors(&self, position: usize) -> Option<[Span; 2]> {
        let texts = self.columns.iter().filter_map(|column| match column {
            Column::Text { spans, .. } => Some(spans[position]),
            Column::Values { .. } => None,
        });
        let all = texts.chain([self.ids.get(position), self.extras.get(position)]).filter(|span| !span.is_missing());
        all.fold(None, |found, span| {
            let [low, high] = found.unwrap_or([span; 2]);
            Some([
                if span.start() < low.start() { span } else { low },
                if span.start() > high.start() { span } else { high },
            ])
        })
    }

    /// The whole file in which a span lies; none where that is no mapped file.
    fn mapped(&self, span: Span) -> Option<Lines<'_>> {
        match self.buffer(span) {
            Some((Buffer::Mapped(map), first)) => Some(Lines { data: map, first }),
            _ => None,
        }
    }

    /// Where the line of a document begins; without a value of its own it is found by counting lines.
    fn line_start(&self, file: Lines<'_>, position: usize, line: u64, known: Place) -> Place {
        let Some([low, _]) = self.anchors(position) else { return file.line(line, known) };
        Place { line, at: file.data.line_start(known.at..(low.start() - file.first) as usize) }
    }

    /// Where the line after that of a document begins.
    fn line_end(&self, file: Lines<'_>, position: usize, line: u64, known: Place) -> Place {
        let Some([_, high]) = self.anchors(position) else { return file.line(line, known) };
        Place { line, at: file.after((high.start() - file.first) as usize + high.len() as usize) }
    }
}

/// Documents from neighbouring rows, from this one on, and which of them are kept.
struct Stretch<'a> {
    documents: Range<usize>,
    row: u64,
    kept: &'a [bool],
}

/// A mapped file of lines; spans count its bytes from here.
#[derive(Clone, Copy)]
struct Lines<'a> {
    data: &'a MappedFile,
    first: u64,
}

impl Lines<'_> {
    /// The place of a line that is not before a known one.
    fn line(self, line: u64, known: Place) -> Place {
        Place { line, at: (known.line..line).fold(known.at, |at, _| self.after(at)) }
    }

    /// Where the line after that of a byte begins.
    fn after(self, at: usize) -> usize {
        (self.data.newline_from(at) + 1).min(self.data.len())
    }
}

/// Pieces of a file on their way out.
struct Pieces<'a, W> {
    file: &'a MappedFile,
    out: W,
    waiting: Vec<u8>,
}

impl<W: Write> Pieces<'_, W> {
    fn add(&mut self, piece: Range<usize>) -> Result<()> {
        for from in piece.clone().step_by(BYTES) {
            self.file.append_to(&mut self.waiting, from..(from + BYTES).min(piece.end));
            if self.waiting.len() >= BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let mut rest = &self.waiting[..];
        while !rest.is_empty() {
            watch::look();
            match self.out.write(rest) {
                Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.waiting.clear();
        Ok(())
    }
}

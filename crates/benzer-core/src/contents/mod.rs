//! The sets of the fields of documents, read from their stored bytes.

pub mod cells;
mod values;

use crate::isa::{self, Level, Task};
use crate::jaccard::{FEW, Sets, intersection, sort_distinct};
use crate::similarity::{Overlap, Overlaps};
use crate::text::{self, Reader};
use rayon::prelude::*;
use std::sync::Arc;

/// Contents that one thread reads at a time.
const CHUNK: usize = 64;

/// How the stored bytes of a field become a set.
#[derive(Clone)]
pub enum FieldReader {
    /// UTF-8, by a reader of texts.
    Text(Arc<Reader>),
    /// A JSON array of strings and integers.
    Values,
    /// The description of an image by cells.
    Cells,
    /// Read elsewhere: the caller passes the sets of the field.
    Given,
}

/// The place of a content that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub usize);

/// Buffers to read contents with.
#[derive(Default)]
pub struct Scratch {
    /// The buffers of texts; after [`FieldReader::read`] its `shingles` are the set.
    pub text: text::Scratch,
    values: values::Scratch,
    spare: Vec<u64>,
}

impl FieldReader {
    /// Leaves the set of a content in `scratch.text.shingles`, ascending, without repeats; none if it is malformed.
    #[inline(always)]
    pub fn read<L: Level>(&self, data: &[u8], scratch: &mut Scratch) -> Option<()> {
        self.read_list::<L>(data, scratch)?;
        sort_distinct(&mut scratch.text.shingles, &mut scratch.spare);
        Some(())
    }

    /// The same in any order and with repeats.
    #[inline(always)]
    pub fn read_list<L: Level>(&self, data: &[u8], scratch: &mut Scratch) -> Option<()> {
        let Scratch { text, values, .. } = scratch;
        match self {
            FieldReader::Text(reader) => reader.read::<L>(simdutf8::basic::from_utf8(data).ok()?, text),
            FieldReader::Values => values::read(data, values, &mut text.shingles)?,
            FieldReader::Cells => cells::read(data, &mut text.shingles)?,
            FieldReader::Given => text.shingles.clear(),
        }
        Some(())
    }
}

/// One field of some documents.
pub struct ContentColumn {
    /// The set of each document; an empty one where it lacks the field.
    pub sets: Sets,
    /// Which documents lack the field.
    pub missing: Vec<bool>,
}

/// The fields of some documents as sets, to compare them with others.
pub struct Contents {
    /// Each field.
    pub columns: Vec<ContentColumn>,
}

struct ReadSets<'a> {
    reader: &'a FieldReader,
    contents: &'a [Option<&'a [u8]>],
}

impl Task for ReadSets<'_> {
    type Output = Result<Sets, Malformed>;

    #[inline(always)]
    fn run<L: Level>(self) -> Result<Sets, Malformed> {
        let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
        let mut scratch = Scratch::default();
        for (place, content) in self.contents.iter().enumerate() {
            if let Some(data) = content {
                self.reader.read::<L>(data, &mut scratch).ok_or(Malformed(place))?;
                sets.hashes.extend_from_slice(&scratch.text.shingles);
            }
            sets.offsets.push(sets.hashes.len());
        }
        Ok(sets)
    }
}

impl ContentColumn {
    /// Reads a field of some documents; none where one lacks it.
    pub fn read(reader: &FieldReader, contents: &[Option<&[u8]>]) -> Result<ContentColumn, Malformed> {
        let part = |(number, contents)| {
            isa::run(ReadSets { reader, contents }).map_err(|Malformed(place)| Malformed(number * CHUNK + place))
        };
        let sets = if contents.len() <= CHUNK {
            part((0, contents))?
        } else {
            let parts: Result<Vec<Sets>, Malformed> = contents.par_chunks(CHUNK).enumerate().map(part).collect();
            Sets::concatenate(parts?)
        };
        Ok(ContentColumn { sets, missing: contents.iter().map(Option::is_none).collect() })
    }

    fn overlap(&self, left: usize, other: &ContentColumn, right: usize) -> Overlap {
        let (a, b) = (self.sets.get(left), other.sets.get(right));
        Overlap {
            shared: intersection(a, b) as u32,
            sizes: [a.len() as u32, b.len() as u32],
            held: !(self.missing[left] || other.missing[right]),
        }
    }
}

impl Contents {
    /// The number of documents.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.missing.len())
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements that pairs of these documents and others share.
    ///
    /// # Panics
    /// Where the two do not have the same number of fields, or a position is too high.
    pub fn overlaps(&self, others: &Contents, left: &[u32], right: &[u32]) -> Overlaps {
        assert_eq!(self.columns.len(), others.columns.len(), "documents of the same fields are compared");
        let fields = self.columns.len();
        let compare = |(overlaps, (&left, &right)): (&mut [Overlap], (&u32, &u32))| {
            for (overlap, (own, other)) in overlaps.iter_mut().zip(self.columns.iter().zip(&others.columns)) {
                *overlap = own.overlap(left as usize, other, right as usize);
            }
        };
        let mut each = vec![Overlap::default(); left.len() * fields];
        if left.len() <= FEW {
            each.chunks_mut(fields).zip(left.iter().zip(right)).for_each(compare);
        } else {
            each.par_chunks_mut(fields).zip(left.par_iter().zip(right)).with_min_len(FEW).for_each(compare);
        }
        Overlaps { fields, each }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Recipe;

    fn overlap(shared: u32, sizes: [u32; 2], held: bool) -> Overlap {
        Overlap { shared, sizes, held }
    }

    #[test]
    fn documents_of_any_kinds_are_compared() {
        let words = Recipe { shingle_size: 1, ..Recipe::PLAIN };
        let readers = [FieldReader::Text(Arc::new(Reader::new(words, &[]))), FieldReader::Values];
        let read = |columns: [&[Option<&str>]; 2]| {
            let column = |(reader, contents): (&FieldReader, &[Option<&str>])| {
                let bytes: Vec<Option<&[u8]>> = contents.iter().map(|content| content.map(str::as_bytes)).collect();
                ContentColumn::read(reader, &bytes).unwrap()
            };
            Contents { columns: readers.iter().zip(columns).map(column).collect() }
        };
        let one = read([&[Some("a b a"), Some("")], &[Some("[1,\"x\",1]"), None]]);
        let other = read([&[Some("b c")], &[Some("[\"x\"]")]]);
        let found = one.overlaps(&other, &[0, 1], &[0, 0]);
        let want = [
            [overlap(1, [2, 2], true), overlap(1, [2, 1], true)],
            [overlap(0, [0, 2], true), overlap(0, [0, 1], false)],
        ];
        assert_eq!(found.each, want.concat());
    }

    #[test]
    fn many_contents_are_read_in_order_and_the_first_malformed_one_is_named() {
        let texts: Vec<String> = (0..1000).map(|number| format!("[{number}]")).collect();
        let mut contents: Vec<Option<&[u8]>> = texts.iter().map(|text| Some(text.as_bytes())).collect();
        let column = ContentColumn::read(&FieldReader::Values, &contents).unwrap();
        assert_eq!(column.sets.offsets, (0..=1000).collect::<Vec<usize>>());
        contents[777] = Some(b"[");
        assert_eq!(ContentColumn::read(&FieldReader::Values, &contents).err(), Some(Malformed(777)));
        assert!(ContentColumn::read(&FieldReader::Given, &contents).unwrap().sets.hashes.is_empty());
    }
}

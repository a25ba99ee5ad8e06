//! The documents of an index that are most similar to a query. The query is read once, and compared exactly with
//! documents as they are stored.
//!
//! A kept document is, for each field, its length (uint32, little-endian; [`LACKING`] where it lacks the field) and its
//! stored content; see [`FieldReader`].

use crate::bands::{NO_KEY, band_keys};
use crate::contents::{FieldReader, Malformed, Scratch as Reading};
use crate::isa::{self, Level, Task};
use crate::jaccard::{Sets, intersection, sort_distinct};
use crate::lookup::Lookup;
use crate::minhash::{self, Sketcher};
use crate::similarity::{Overlap, Overlaps, Weights};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Documents from which on a table of the question pays.
const MANY: usize = 8;

/// The length of a field that a document lacks.
pub const LACKING: u32 = u32::MAX;

/// How documents are read, filed and compared.
pub struct Rules {
    /// Reads each field.
    pub readers: Vec<FieldReader>,
    /// The weight of each field.
    pub weights: Vec<f64>,
    /// Makes the signatures.
    pub sketcher: Sketcher,
    /// Bands of each signature.
    pub bands: usize,
    /// Values in a band.
    pub rows: usize,
}

/// A document that others are compared with.
pub struct Question {
    /// Its band keys, those of each field after the other.
    pub keys: Vec<u64>,
    /// The set of each field; none where it lacks the field.
    sets: Vec<Option<Vec<u64>>>,
}

/// Some documents: the stored content of each field, none where one lacks it.
pub type Documents<'a> = &'a [Vec<Option<&'a [u8]>>];

/// For each field the sets of all documents, where these are not to be read: always for [`FieldReader::Given`].
pub type Given<'a> = &'a [Option<&'a Sets>];

/// A document that is similar to the one in question.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// Its place among those given.
    pub place: usize,
    /// The similarity of the documents.
    pub similarity: f64,
    /// The similarity of each field; not-a-number where one of the two lacks it.
    pub fields: Vec<f64>,
}

#[derive(Default)]
struct Scratch {
    reading: Reading,
    sketch: minhash::Scratch,
    signature: Vec<u32>,
}

impl Rules {
    /// Reads documents.
    pub fn ask(&self, documents: Documents<'_>, given: Given<'_>) -> Result<Vec<Question>, Malformed> {
        isa::run(Ask { rules: self, documents, given })
    }

    /// The band keys of documents one after the other.
    pub fn keys(&self, documents: Documents<'_>, given: Given<'_>, out: &mut [u64]) -> Result<(), Malformed> {
        isa::run(Keys { rules: self, documents, given, out })
    }

    /// The elements that stored documents share with the query, which is the right one of each pair.
    pub fn overlaps(&self, question: &Question, kept: &[&[u8]], given: Given<'_>) -> Result<Overlaps, Malformed> {
        isa::run(Compare { rules: self, question, kept, given })
    }

    /// The documents of at least some similarity, the most similar first and of equal ones the first given.
    pub fn best(&self, question: &Question, kept: &[&[u8]], least: f64, limit: usize) -> Result<Vec<Match>, Malformed> {
        let overlaps = self.overlaps(question, kept, &vec![None; self.readers.len()])?;
        let table = overlaps.similarities(&Weights(&self.weights), &vec![None; self.readers.len()]);
        let rows = table.chunks(1 + self.readers.len()).enumerate();
        let mut found: Vec<(usize, &[f64])> = rows.filter(|(_, row)| row[0] >= least).collect();
        found.sort_by(|(_, a), (_, b)| b[0].total_cmp(&a[0]));
        found.truncate(limit);
        let matches = found.into_iter();
        Ok(matches.map(|(place, row)| Match { place, similarity: row[0], fields: row[1..].to_vec() }).collect())
    }

    /// The number of band keys of a document.
    pub fn width(&self) -> usize {
        self.readers.len() * self.bands
    }
}

/// Reads a content into the scratch, or puts its set there if that is given; ascending without repeats if `distinct`.
#[inline(always)]
fn read<L: Level>(
    reader: &FieldReader, data: &[u8], place: usize, given: Option<&Sets>, distinct: bool, scratch: &mut Reading,
) -> Result<(), Malformed> {
    if let Some(sets) = given {
        scratch.text.shingles.clear();
        scratch.text.shingles.extend_from_slice(sets.get(place));
        return Ok(());
    }
    let done = if distinct { reader.read::<L>(data, scratch) } else { reader.read_list::<L>(data, scratch) };
    done.ok_or(Malformed(place))
}

struct Ask<'a> {
    rules: &'a Rules,
    documents: Documents<'a>,
    given: Given<'a>,
}

impl Task for Ask<'_> {
    type Output = Result<Vec<Question>, Malformed>;

    #[inline(always)]
    fn run<L: Level>(self) -> Self::Output {
        let Ask { rules, documents, given } = self;
        let mut scratch = Scratch::default();
        let mut questions = Vec::with_capacity(documents.len());
        for (place, contents) in documents.iter().enumerate() {
            let mut question = Question { keys: vec![NO_KEY; rules.width()], sets: Vec::new() };
            let keys = question.keys.chunks_mut(rules.bands);
            for (field, (content, out)) in contents.iter().zip(keys).enumerate() {
                let Some(data) = content else {
                    question.sets.push(None);
                    continue;
                };
                read::<L>(&rules.readers[field], data, place, given[field], true, &mut scratch.reading)?;
                file::<L>(rules, field, &mut scratch, out);
                question.sets.push(Some(scratch.reading.text.shingles.clone()));
            }
            questions.push(question);
        }
        Ok(questions)
    }
}

struct Keys<'a> {
    rules: &'a Rules,
    documents: Documents<'a>,
    given: Given<'a>,
    out: &'a mut [u64],
}

impl Task for Keys<'_> {
    type Output = Result<(), Malformed>;

    #[inline(always)]
    fn run<L: Level>(self) -> Self::Output {
        let Keys { rules, documents, given, out } = self;
        let mut scratch = Scratch::default();
        for ((place, contents), out) in documents.iter().enumerate().zip(out.chunks_mut(rules.width())) {
            for (field, (content, out)) in contents.iter().zip(out.chunks_mut(rules.bands)).enumerate() {
                match content {
                    Some(data) => {
                        read::<L>(&rules.readers[field], data, place, given[field], false, &mut scratch.reading)?;
                        file::<L>(rules, field, &mut scratch, out);
                    }
                    None => out.fill(NO_KEY),
                }
            }
        }
        Ok(())
    }
}

/// The band keys of the shingles in the scratch.
#[inline(always)]
fn file<L: Level>(rules: &Rules, field: usize, scratch: &mut Scratch, out: &mut [u64]) {
    let Scratch { reading, sketch, signature } = scratch;
    if reading.text.shingles.is_empty() {
        out.fill(NO_KEY);
        return;
    }
    signature.resize(rules.sketcher.num_hashes(), 0);
    // SAFETY: this runs at level L, so the machine offers it.
    unsafe { rules.sketcher.sketch_level::<L>(&reading.text.shingles, sketch, signature) };
    band_keys(signature, rules.bands, rules.rows, field as u64, out);
}

struct Compare<'a> {
    rules: &'a Rules,
    question: &'a Question,
    kept: &'a [&'a [u8]],
    given: Given<'a>,
}

impl Task for Compare<'_> {
    type Output = Result<Overlaps, Malformed>;

    #[inline(always)]
    fn run<L: Level>(self) -> Result<Overlaps, Malformed> {
        let Compare { rules, question, kept, given } = self;
        let (fields, mut scratch) = (rules.readers.len(), Reading::default());
        let mut each: Vec<Overlap> = Vec::with_capacity(kept.len() * fields);
        let mut met: HashMap<u64, usize> = HashMap::new(); // equal documents are compared once
        let table = |set: &Option<Vec<u64>>| set.as_deref().filter(|_| kept.len() >= MANY).and_then(Lookup::new);
        let mut tables: Vec<Option<Lookup>> = question.sets.iter().map(table).collect();
        let (mut others, mut spare) = (Vec::new(), Vec::new());
        for (place, &data) in kept.iter().enumerate() {
            if kept.len() > 1 {
                let before = *met.entry(xxh3_64(data)).or_insert(place);
                if before < place && kept[before] == data {
                    each.extend_from_within(before * fields..(before + 1) * fields);
                    continue;
                }
            }
            let mut rest = data;
            for (field, (reader, own)) in rules.readers.iter().zip(&question.sets).enumerate() {
                let content;
                (content, rest) = split(rest).ok_or(Malformed(place))?;
                scratch.text.shingles.clear();
                let table = &mut tables[field];
                if let Some(data) = content {
                    read::<L>(reader, data, place, given[field], table.is_none(), &mut scratch)?;
                }
                let (own, other) = (own.as_deref(), &scratch.text.shingles);
                let (shared, size) = match table {
                    Some(table) => {
                        let shared = table.shared(other, &mut others);
                        sort_distinct(&mut others, &mut spare);
                        (shared, shared + others.len())
                    }
                    None => (own.map_or(0, |own| intersection(other, own)), other.len()),
                };
                each.push(Overlap {
                    shared: shared as u32,
                    sizes: [size as u32, own.map_or(0, <[u64]>::len) as u32],
                    held: content.is_some() && own.is_some(),
                });
            }
        }
        Ok(Overlaps { fields, each })
    }
}

/// The content of the first field of a kept document, if it holds the field, and the rest of the document.
fn split(data: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (length, rest) = data.split_first_chunk()?;
    match u32::from_le_bytes(*length) {
        LACKING => Some((None, rest)),
        length => rest.split_at_checked(length as usize).map(|(content, rest)| (Some(content), rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minhash::Algorithm;
    use crate::text::{Reader, Recipe};
    use std::sync::Arc;

    fn rules(fields: usize) -> Rules {
        let recipe = Recipe { shingle_size: 1, ..Recipe::PLAIN };
        Rules {
            readers: (0..fields).map(|_| FieldReader::Text(Arc::new(Reader::new(recipe, &[])))).collect(),
            weights: (1..=fields).map(|weight| weight as f64).collect(),
            sketcher: Sketcher::new(Algorithm::Fast, 20, 0).unwrap(),
            bands: 5,
            rows: 4,
        }
    }

    fn bytes<'a>(texts: &[Option<&'a str>]) -> Vec<Option<&'a [u8]>> {
        texts.iter().map(|text| text.map(str::as_bytes)).collect()
    }

    fn ask(rules: &Rules, texts: &[Option<&str>]) -> Question {
        rules.ask(&[bytes(texts)], &vec![None; texts.len()]).unwrap().remove(0)
    }

    fn kept(texts: &[Option<&str>]) -> Vec<u8> {
        let mut data = Vec::new();
        for text in texts {
            data.extend(text.map_or(LACKING, |text| text.len() as u32).to_le_bytes());
            data.extend(text.unwrap_or_default().as_bytes());
        }
        data
    }

    #[test]
    fn the_most_similar_come_first_and_of_equal_ones_the_first_given() {
        let rules = rules(1);
        let question = ask(&rules, &[Some("a b c")]);
        let data = ["x", "a b d", "c b a", "a b", "a b c", "a b d"].map(|text| kept(&[Some(text)]));
        let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        let found = |least, limit| -> Vec<(usize, f64)> {
            let found = rules.best(&question, &data, least, limit).unwrap();
            found.into_iter().map(|one| (one.place, one.similarity)).collect()
        };
        let third = 2.0 / 3.0;
        assert_eq!(found(0.0, 9), [(2, 1.0), (4, 1.0), (3, third), (1, 0.5), (5, 0.5), (0, 0.0)]);
        assert_eq!(found(third, 9), [(2, 1.0), (4, 1.0), (3, third)]);
        assert_eq!(found(0.0, 1), [(2, 1.0)]);
    }

    #[test]
    fn fields_that_one_lacks_or_both_have_empty_do_not_count() {
        let rules = rules(3);
        let question = ask(&rules, &[Some("a b"), Some(""), None]);
        let data = [
            kept(&[Some("a b"), Some("x"), Some("y")]),
            kept(&[None, Some(""), Some("y")]),
            kept(&[Some("a"), None, None]),
        ];
        let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        let found = rules.best(&question, &data, 0.0, 9).unwrap();
        let said: Vec<String> = found.iter().map(|one| format!("{one:?}")).collect();
        assert_eq!(
            said,
            [
                "Match { place: 2, similarity: 0.5, fields: [0.5, NaN, NaN] }",
                "Match { place: 0, similarity: 0.3333333333333333, fields: [1.0, 0.0, NaN] }",
                "Match { place: 1, similarity: 0.0, fields: [NaN, 1.0, NaN] }",
            ]
        );
    }

    #[test]
    fn keys_are_those_of_the_question_and_none_of_what_is_empty() {
        let rules = rules(2);
        let documents = [vec![Some("a b c a"), Some("")], vec![None, Some("a b c")]];
        let mut out = vec![1; 20];
        let documents = documents.map(|texts| bytes(&texts));
        rules.keys(&documents, &[None; 2], &mut out).unwrap();
        let asked = rules.ask(&documents, &[None; 2]).unwrap();
        assert_eq!((&out[..10], &out[10..]), (&asked[0].keys[..], &asked[1].keys[..]));
        assert_eq!(out[5..15], [NO_KEY; 10]);
        assert!(out[..5].iter().zip(&out[15..]).all(|(one, other)| one != other && *one != NO_KEY));
    }

    #[test]
    fn a_document_that_is_cut_off_is_an_error() {
        let rules = rules(2);
        let (question, whole) = (ask(&rules, &[Some("a"), None]), kept(&[Some("ab"), None]));
        for end in 0..whole.len() {
            assert_eq!(rules.best(&question, &[&whole, &whole[..end]], 0.0, 9), Err(Malformed(1)), "{end}");
        }
        let latin = [&[1, 0, 0, 0, 0xE9][..], &LACKING.to_le_bytes()].concat();
        assert_eq!(rules.best(&question, &[&latin], 0.0, 9), Err(Malformed(0)));
    }
}

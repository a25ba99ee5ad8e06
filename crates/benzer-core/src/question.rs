//! Which documents of an index are most like one? It is read once, and compared exactly with documents as they are kept.
//!
//! A kept document is, for each field, its length (uint32, little-endian; [`LACKING`] where it lacks the field) and its
//! text in UTF-8.

use crate::bands::{NO_KEY, band_keys};
use crate::corpus::Mean;
use crate::isa::{self, Level, Task};
use crate::jaccard::{jaccard, sort_distinct};
use crate::minhash::{self, Sketcher};
use crate::text::{self, Reader};
use std::collections::HashMap;
use std::sync::Arc;

/// The length of a field that a document lacks.
pub const LACKING: u32 = u32::MAX;

/// How documents of text fields are read, filed and compared.
pub struct Rules {
    /// Reads each field.
    pub readers: Vec<Arc<Reader>>,
    /// What each field counts.
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

/// A document that is like the one in question.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// Its place among those given.
    pub place: usize,
    /// The weighted mean over the fields that both hold and that are not empty in both.
    pub similarity: f64,
    /// The similarity of each field; not-a-number where one of the two lacks it.
    pub fields: Vec<f64>,
}

/// The place of a document that is not laid out as it must be.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub usize);

#[derive(Default)]
struct Scratch {
    text: text::Scratch,
    spare: Vec<u64>,
    sketch: minhash::Scratch,
    signature: Vec<u32>,
}

impl Rules {
    /// Reads a document: the text of each field, none where it lacks the field.
    pub fn ask(&self, texts: &[Option<&str>]) -> Question {
        isa::run(Ask { rules: self, texts })
    }

    /// The band keys of documents one after the other, each a text for each field.
    pub fn keys(&self, documents: &[Vec<Option<&str>>], out: &mut [u64]) {
        isa::run(Keys { rules: self, documents, out });
    }

    /// The documents of at least some similarity, the most similar first and of equal ones the first given.
    pub fn best(&self, question: &Question, kept: &[&[u8]], least: f64, limit: usize) -> Result<Vec<Match>, Malformed> {
        let mut found = isa::run(Compare { rules: self, question, kept })?;
        found.retain(|one| one.similarity >= least);
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        found.truncate(limit);
        Ok(found)
    }

    /// The number of band keys of a document.
    pub fn width(&self) -> usize {
        self.readers.len() * self.bands
    }
}

struct Ask<'a> {
    rules: &'a Rules,
    texts: &'a [Option<&'a str>],
}

impl Task for Ask<'_> {
    type Output = Question;

    #[inline(always)]
    fn run<L: Level>(self) -> Question {
        let Ask { rules, texts } = self;
        let mut scratch = Scratch::default();
        let mut question = Question { keys: vec![NO_KEY; rules.width()], sets: Vec::new() };
        let keys = question.keys.chunks_mut(rules.bands);
        for (field, ((reader, text), out)) in rules.readers.iter().zip(texts).zip(keys).enumerate() {
            let set = text.map(|text| {
                read_set::<L>(reader, text, &mut scratch);
                file::<L>(rules, field, &mut scratch, out);
                scratch.text.shingles.clone()
            });
            question.sets.push(set);
        }
        question
    }
}

struct Keys<'a> {
    rules: &'a Rules,
    documents: &'a [Vec<Option<&'a str>>],
    out: &'a mut [u64],
}

impl Task for Keys<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self) {
        let Keys { rules, documents, out } = self;
        let mut scratch = Scratch::default();
        for (texts, out) in documents.iter().zip(out.chunks_mut(rules.width())) {
            for (field, (text, out)) in texts.iter().zip(out.chunks_mut(rules.bands)).enumerate() {
                rules.readers[field].read::<L>(text.unwrap_or_default(), &mut scratch.text);
                file::<L>(rules, field, &mut scratch, out);
            }
        }
    }
}

/// Leaves the set of a text in the scratch.
#[inline(always)]
fn read_set<L: Level>(reader: &Reader, text: &str, scratch: &mut Scratch) {
    reader.read::<L>(text, &mut scratch.text);
    sort_distinct(&mut scratch.text.shingles, &mut scratch.spare);
}

/// The band keys of the shingles in the scratch.
#[inline(always)]
fn file<L: Level>(rules: &Rules, field: usize, scratch: &mut Scratch, out: &mut [u64]) {
    let Scratch { text, sketch, signature, .. } = scratch;
    if text.shingles.is_empty() {
        out.fill(NO_KEY);
        return;
    }
    signature.resize(rules.sketcher.num_hashes(), 0);
    // SAFETY: this runs at level L, so the machine offers it.
    unsafe { rules.sketcher.sketch_level::<L>(&text.shingles, sketch, signature) };
    band_keys(signature, rules.bands, rules.rows, field as u64, out);
}

struct Compare<'a> {
    rules: &'a Rules,
    question: &'a Question,
    kept: &'a [&'a [u8]],
}

impl Task for Compare<'_> {
    type Output = Result<Vec<Match>, Malformed>;

    #[inline(always)]
    fn run<L: Level>(self) -> Result<Vec<Match>, Malformed> {
        let Compare { rules, question, kept } = self;
        let mut scratch = Scratch::default();
        let mut found: Vec<Match> = Vec::with_capacity(kept.len());
        let mut met: HashMap<&[u8], usize> = HashMap::new(); // equal documents are compared once
        for (place, &data) in kept.iter().enumerate() {
            if kept.len() > 1 {
                if let Some(&before) = met.get(data) {
                    found.push(Match { place, ..found[before].clone() });
                    continue;
                }
                met.insert(data, place);
            }
            let one = compare::<L>(rules, question, data, place, &mut scratch);
            found.push(one.ok_or(Malformed(place))?);
        }
        Ok(found)
    }
}

#[inline(always)]
fn compare<L: Level>(
    rules: &Rules, question: &Question, data: &[u8], place: usize, scratch: &mut Scratch,
) -> Option<Match> {
    let (mut mean, mut nothing, mut rest) = (Mean::default(), true, data);
    let mut fields = Vec::with_capacity(rules.readers.len());
    for ((reader, own), &weight) in rules.readers.iter().zip(&question.sets).zip(&rules.weights) {
        let (length, tail) = rest.split_first_chunk()?;
        let length = u32::from_le_bytes(*length);
        let held = length != LACKING;
        let (text, tail) = if held { tail.split_at_checked(length as usize)? } else { tail.split_at(0) };
        rest = tail;
        read_set::<L>(reader, std::str::from_utf8(text).ok()?, scratch);
        let other = &scratch.text.shingles;
        let both_empty = own.as_ref().is_none_or(Vec::is_empty) && other.is_empty();
        nothing &= both_empty;
        let Some(own) = own.as_ref().filter(|_| held) else {
            fields.push(f64::NAN);
            continue;
        };
        let similarity = jaccard(own, other);
        fields.push(similarity);
        if !both_empty {
            mean.add(similarity, weight);
        }
    }
    Some(Match { place, similarity: mean.value().unwrap_or(f64::from(u8::from(nothing))), fields })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minhash::Algorithm;
    use crate::text::{Reader, Recipe};

    fn rules(fields: usize) -> Rules {
        let recipe = Recipe { shingle_size: 1, ..Recipe::PLAIN };
        Rules {
            readers: (0..fields).map(|_| Arc::new(Reader::new(recipe, &[]))).collect(),
            weights: (1..=fields).map(|weight| weight as f64).collect(),
            sketcher: Sketcher::new(Algorithm::Fast, 20, 0).unwrap(),
            bands: 5,
            rows: 4,
        }
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
        let question = rules.ask(&[Some("a b c")]);
        let data = ["x", "a b d", "c b a", "a b", "a b c", "a b d"].map(|text| kept(&[Some(text)]));
        let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        let best = |least, limit| -> Vec<(usize, f64)> {
            let found = rules.best(&question, &data, least, limit).unwrap();
            found.into_iter().map(|one| (one.place, one.similarity)).collect()
        };
        let third = 2.0 / 3.0;
        assert_eq!(best(0.0, 9), [(2, 1.0), (4, 1.0), (3, third), (1, 0.5), (5, 0.5), (0, 0.0)]);
        assert_eq!(best(third, 9), [(2, 1.0), (4, 1.0), (3, third)]);
        assert_eq!(best(0.0, 1), [(2, 1.0)]);
    }

    #[test]
    fn fields_that_one_lacks_or_both_have_empty_do_not_count() {
        let rules = rules(3);
        let question = rules.ask(&[Some("a b"), Some(""), None]);
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
        rules.keys(&documents, &mut out);
        assert_eq!(out[..10], rules.ask(&documents[0]).keys);
        assert_eq!(out[10..], rules.ask(&documents[1]).keys);
        assert_eq!(out[5..15], [NO_KEY; 10]);
        assert!(out[..5].iter().zip(&out[15..]).all(|(one, other)| one != other && *one != NO_KEY));
    }

    #[test]
    fn a_document_that_is_cut_off_is_an_error() {
        let rules = rules(2);
        let (question, whole) = (rules.ask(&[Some("a"), None]), kept(&[Some("ab"), None]));
        for end in 0..whole.len() {
            assert_eq!(rules.best(&question, &[&whole, &whole[..end]], 0.0, 9), Err(Malformed(1)), "{end}");
        }
        let latin = [&[1, 0, 0, 0, 0xE9][..], &LACKING.to_le_bytes()].concat();
        assert_eq!(rules.best(&question, &[&latin], 0.0, 9), Err(Malformed(0)));
    }
}

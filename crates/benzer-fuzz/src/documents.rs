//! Documents that are made of an input: as the core holds them, and as plain sets.

use benzer_core::corpus::{Corpus, FieldKind, Id};
use benzer_core::text::{Reader, Recipe};
use std::collections::{BTreeSet, HashMap};

/// How a field is read.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A text, by a recipe.
    Text(Recipe),
    /// A set of values, one for each byte.
    Values,
}

/// The elements of a field as numbers, ascending, and how often it has each; none where the document lacks the field.
pub type Field = Option<Vec<(u32, usize)>>;

/// Some documents.
pub struct Documents {
    /// As the core holds them.
    pub corpus: Corpus,
    /// Each field of each document.
    pub fields: Vec<Vec<Field>>,
    /// The weight of each field.
    pub weights: Vec<f64>,
    /// The exact similarity of any two documents.
    pub similarity: Vec<Vec<f64>>,
}

impl Documents {
    /// The documents of some lines, whose fields are separated by tabs; "-" is a missing field.
    pub fn new(kinds: &[Kind], lines: &[&[u8]]) -> Documents {
        let reader = |kind: &Kind| match kind {
            Kind::Text(recipe) => FieldKind::Text(Reader::new(*recipe, &[])),
            Kind::Values => FieldKind::Values,
        };
        let mut corpus = Corpus::new(kinds.iter().map(reader).collect());
        let mut batch = corpus.batch();
        let mut sets: Vec<Vec<Option<Vec<u64>>>> = vec![Vec::new(); kinds.len()];
        let mut fields = Vec::new();
        let readers: Vec<Option<Reader>> = kinds
            .iter()
            .map(|kind| match kind {
                Kind::Text(recipe) => Some(Reader::new(*recipe, &[])),
                Kind::Values => None,
            })
            .collect();
        let mut numbers = HashMap::new();
        for (number, line) in lines.iter().enumerate() {
            batch.id((number % 2 == 0).then_some(Id::Integer(number as i64)));
            let mut parts = line.split(|&byte| byte == b'\t');
            let mut document = Vec::new();
            for (field, reader) in readers.iter().enumerate() {
                let part = parts.next().filter(|&part| part != b"-");
                if let Some(reader) = reader {
                    let text = part.map(String::from_utf8_lossy);
                    batch.text(field, text.as_deref());
                    document.push(text.map(|text| counted(&reader.shingles(&text), &mut numbers)));
                } else {
                    let values: Option<BTreeSet<u8>> = part.map(|part| part.iter().copied().collect());
                    sets[field].push(values.as_ref().map(hashes));
                    document.push(values.map(|set| set.iter().map(|&value| (u32::from(value), 1)).collect()));
                }
            }
            fields.push(document);
        }
        let of_values = kinds.iter().zip(sets).filter(|(kind, _)| matches!(kind, Kind::Values));
        let rows: Vec<u64> = (1..=lines.len() as u64).collect();
        corpus.add_batch(0, &rows, batch, of_values.map(|(_, sets)| sets).collect());
        let weights = (0..kinds.len()).map(|field| 1.0 + field as f64 / 3.0).collect();
        let mut documents = Documents { corpus, fields, weights, similarity: Vec::new() };
        let all = 0..lines.len();
        documents.similarity = all.clone().map(|a| all.clone().map(|b| documents.weighted(a, b)).collect()).collect();
        documents
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether a document has an element in any field.
    pub fn has_elements(&self, document: usize) -> bool {
        self.fields[document].iter().flatten().any(|field| !field.is_empty())
    }

    /// The weighted mean over the fields that both hold and that are not empty in both.
    fn weighted(&self, a: usize, b: usize) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (field, &weight) in self.weights.iter().enumerate() {
            if let (Some(this), Some(other)) = (&self.fields[a][field], &self.fields[b][field])
                && !(this.is_empty() && other.is_empty())
            {
                sum += weight * jaccard(this, other);
                total += weight;
            }
        }
        let nothing = !self.has_elements(a) && !self.has_elements(b);
        if total > 0.0 { sum / total } else { f64::from(u8::from(nothing)) }
    }
}

/// The distinct shingles of a text by their numbers, with their counts.
fn counted(shingles: &[String], numbers: &mut HashMap<String, u32>) -> Vec<(u32, usize)> {
    let mut actual: Vec<u32> = Vec::with_capacity(shingles.len());
    for shingle in shingles {
        let next = numbers.len() as u32;
        actual.push(*numbers.entry(shingle.clone()).or_insert(next));
    }
    actual.sort_unstable();
    actual.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect()
}

fn hashes(values: &BTreeSet<u8>) -> Vec<u64> {
    let mut hashes: Vec<u64> =
        values.iter().map(|&value| u64::from(value).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    hashes.sort_unstable();
    hashes
}

/// How many elements two fields share.
pub fn shared(this: &[(u32, usize)], other: &[(u32, usize)]) -> usize {
    this.iter().filter(|(element, _)| other.binary_search_by_key(element, |&(element, _)| element).is_ok()).count()
}

/// The Jaccard similarity of two fields that are not both empty.
pub fn jaccard(this: &[(u32, usize)], other: &[(u32, usize)]) -> f64 {
    let shared = shared(this, other);
    shared as f64 / (this.len() + other.len() - shared) as f64
}

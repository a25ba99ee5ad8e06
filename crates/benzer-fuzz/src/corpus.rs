//! A corpus: joins, candidate pairs, identical documents and decisions are those of comparing all pairs.

use benzer_core::bands::NO_KEY;
use benzer_core::buckets::{Candidates, Join, Keys, Limit};
use benzer_core::corpus::{SketchPlan, Sketches};
use benzer_core::hash::mix::SplitMix64;
use benzer_core::minhash::{Algorithm, Sketcher};
use benzer_core::setjoin::{Relation, sort};
use benzer_core::similarity::Weights;
use benzer_core::text::{Recipe, Unit};
use std::collections::{BTreeMap, BTreeSet};

use crate::decided::{check_families, check_pairs_decided};
use crate::documents::{Documents, Kind, jaccard, shared};
use crate::input::Input;

/// Documents that are made of an input at most: all pairs of them are compared.
const MOST: usize = 16;

const THRESHOLDS: [f64; 6] = [0.05, 1.0 / 3.0, 0.5, 0.6, 0.8, 1.0];

/// Checks the documents of the lines of an input, in a way that its first three bytes choose.
pub fn corpus(data: &[u8]) {
    let mut input = Input::new(data);
    let [kind, choices, seed] = [input.byte(), input.byte(), input.byte()];
    let lines: Vec<&[u8]> = input.rest().split(|&byte| byte == b'\n').take(MOST).collect();
    let threshold = THRESHOLDS[usize::from(choices) % THRESHOLDS.len()];
    let limit = 2 + usize::from(choices / 6 % 7);
    let rank = shuffled(lines.len(), u64::from(seed));
    let documents = Documents::new(&kinds(kind), &lines);
    check_similarity(&documents);
    for field in 0..documents.weights.len() {
        check_joins(&documents, field, threshold);
    }
    check_neighbours(&documents, threshold);
    let sketched = Sketched::new(&documents, 1 + usize::from(choices / 42), usize::from(seed));
    let original = check_identical(&documents, &sketched, &rank);
    let taking_part: Vec<bool> = (0..).zip(&original).map(|(document, &first)| document == first).collect();
    let candidates = check_candidates(&sketched, &taking_part, limit);
    check_pairs_decided(&documents, &rank, threshold);
    check_families(&documents, &rank, threshold, &original, &candidates);
}

fn kinds(kind: u8) -> Vec<Kind> {
    let text = |unit, shingle_size| Kind::Text(Recipe { unit, shingle_size, ..Recipe::PLAIN });
    let all = [text(Unit::Word, 1), text(Unit::Char, 2), Kind::Values, text(Unit::Word, 2)];
    let [first, second] = [kind, kind / 8].map(|kind| all[usize::from(kind) % 4]);
    if kind & 4 > 0 { vec![first, second] } else { vec![first] }
}

/// A keep order: that of the documents for 0, else any.
fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut random = SplitMix64::new(seed);
    let mut rank: Vec<u32> = (0..count as u32).collect();
    if seed > 0 {
        (1..count).for_each(|index| rank.swap(index, random.next_u64() as usize % (index + 1)));
    }
    rank
}

/// All pairs of documents, the lower position first.
fn all_pairs(count: usize) -> (Vec<u32>, Vec<u32>) {
    (0..count as u32).flat_map(|a| (a + 1..count as u32).map(move |b| (a, b))).unzip()
}

fn check_similarity(documents: &Documents) {
    let (left, right) = all_pairs(documents.len());
    let weights = Weights(&documents.weights);
    let actual = documents.corpus.similarity(&left, &right, &weights);
    let overlaps = documents.corpus.overlaps(&left, &right);
    let table = overlaps.similarities(&weights, &vec![None; documents.weights.len()]);
    for (index, (&a, &b)) in left.iter().zip(&right).enumerate() {
        let expected = documents.similarity[a as usize][b as usize];
        assert!((actual[index] - expected).abs() < 1e-12, "{} and {expected}: {a} and {b}", actual[index]);
        let row = &table[index * (1 + overlaps.fields)..][..1 + overlaps.fields];
        assert!(row[0] == actual[index], "{} and {}: {a} and {b}", row[0], actual[index]);
        for (field, &value) in row[1..].iter().enumerate() {
            let expected = match (&documents.fields[a as usize][field], &documents.fields[b as usize][field]) {
                (Some(this), Some(other)) if this.is_empty() && other.is_empty() => 1.0,
                (Some(this), Some(other)) => jaccard(this, other),
                _ => f64::NAN,
            };
            assert!(value == expected || value.is_nan() && expected.is_nan(), "{value} and {expected}: {a} and {b}");
        }
    }
}

/// The exact join of a field finds what comparing all pairs finds.
fn check_joins(documents: &Documents, field: usize, threshold: f64) {
    let positions: Vec<u32> = (0..documents.len() as u32).collect();
    let filled = |index: &usize| documents.fields[*index][field].as_ref().filter(|set| !set.is_empty());
    for relation in [Relation::Alike, Relation::Contained] {
        let join = documents.corpus.join(field, &positions, relation, threshold);
        let mut actual = join.pairs(0..join.len());
        sort(&mut actual);
        let actual: Vec<(u32, u32, f64)> = actual.iter().map(|pair| (pair.left, pair.right, pair.value)).collect();
        let mut expected = Vec::new();
        for (a, this) in (0..documents.len()).filter_map(|index| Some((index, filled(&index)?))) {
            for (b, other) in (0..documents.len()).filter_map(|index| Some((index, filled(&index)?))) {
                let value = match relation {
                    Relation::Alike if a < b => jaccard(this, other),
                    Relation::Contained if a != b => shared(this, other) as f64 / this.len() as f64,
                    _ => continue,
                };
                if value >= threshold {
                    expected.push((a as u32, b as u32, value));
                }
            }
        }
        assert_eq!(actual, expected, "{relation:?} at {threshold}");
    }
}

/// The neighbours of every third document are those of comparing it with all.
fn check_neighbours(documents: &Documents, threshold: f64) {
    let queries: Vec<u32> = (0..documents.len() as u32).step_by(3).collect();
    let thresholds = vec![threshold; documents.weights.len()];
    let mut actual = documents.corpus.neighbours(&queries, &thresholds).among(0..documents.len());
    actual.sort_unstable();
    let is_alike = |a: u32, b: u32| {
        let fields = documents.fields[a as usize].iter().zip(&documents.fields[b as usize]);
        fields.into_iter().any(|fields| match fields {
            (Some(this), Some(other)) => !this.is_empty() && !other.is_empty() && jaccard(this, other) >= threshold,
            _ => false,
        })
    };
    let mut expected = Vec::new();
    for (number, &query) in (0u64..).zip(&queries) {
        let others = (0..documents.len() as u32).filter(|&other| other != query && is_alike(query, other));
        expected.extend(others.map(|other| number << 32 | u64::from(other)));
    }
    assert_eq!(actual, expected, "neighbours at {threshold}");
}

/// The data that a run stores of each document.
struct Sketched {
    keys: Vec<u64>,
    bands: usize,
    content: Vec<[u64; 2]>,
    empty: Vec<bool>,
}

impl Sketched {
    /// Sketches documents. Bands of one value each are shared by many documents.
    fn new(documents: &Documents, bands: usize, seed: usize) -> Sketched {
        let (count, fields) = (documents.len(), documents.weights.len());
        let algorithm = Algorithm::ALL[seed % 3];
        let sketcher = Sketcher::new(algorithm, 2 * bands, seed as u64).expect("a size that is allowed");
        let plan = SketchPlan { sketcher, bands, rows: 1 + seed % 2 };
        let mut keys = vec![0; count * fields * bands];
        let (mut content, mut sizes, mut units) =
            (vec![[0; 2]; count], vec![0; count * fields], vec![0; count * fields]);
        let out = Sketches { keys: &mut keys, content: &mut content, sizes: &mut sizes, units: &mut units };
        documents.corpus.sketch(&plan, 0, out);
        for (document, sizes) in sizes.chunks(fields).enumerate() {
            for (field, &size) in documents.fields[document].iter().zip(sizes) {
                let elements: usize = field.iter().flatten().map(|&(_, count)| count).sum();
                assert_eq!(size as usize, elements, "shingles of document {document}");
            }
        }
        let empty = (0..count).map(|document| !documents.has_elements(document)).collect();
        Sketched { keys, bands: fields * bands, content, empty }
    }
}

/// Documents with the same shingles, each as often, have the same representative; returns it for each.
fn check_identical(documents: &Documents, sketched: &Sketched, rank: &[u32]) -> Vec<u32> {
    let mut best: BTreeMap<&Vec<_>, (u32, u32)> = BTreeMap::new();
    for (document, fields) in (0..).zip(&documents.fields) {
        let own = (rank[document as usize], document);
        best.entry(fields).and_modify(|best| *best = own.min(*best)).or_insert(own);
    }
    let actual = documents.corpus.identical(&sketched.content, &sketched.empty, rank);
    for (document, &first) in (0..).zip(&actual) {
        let expected = match sketched.empty[document as usize] {
            true => document,
            false => best[&documents.fields[document as usize]].1,
        };
        assert_eq!(first, expected, "the representative of document {document}");
    }
    actual
}

/// Candidates are the pairs that share a key and no large bucket; large buckets are listed.
fn check_candidates(sketched: &Sketched, taking_part: &[bool], limit: usize) -> Candidates {
    let keys = Keys::by_document(&sketched.keys, sketched.bands);
    let join = Join { keys, limit: Limit::Fixed(limit), taking_part, at_once: limit % 3 };
    let actual = join.candidates();
    let mut buckets: BTreeMap<(usize, u64), Vec<u32>> = BTreeMap::new();
    for (document, keys) in (0..).zip(sketched.keys.chunks(sketched.bands)) {
        for (band, &key) in keys.iter().enumerate().filter(|&(_, &key)| key != NO_KEY) {
            if taking_part[document as usize] {
                buckets.entry((band, key)).or_default().push(document);
            }
        }
    }
    let (large, small): (Vec<_>, Vec<_>) = buckets.into_values().partition(|bucket| bucket.len() > limit);
    assert!(actual.large.iter().eq(large.iter().map(Vec::as_slice)), "large buckets");
    let pairs_of = |buckets: &[Vec<u32>]| {
        let pairs = |bucket: &Vec<u32>| {
            let (left, right) = all_pairs(bucket.len());
            let packed = |(a, b): (u32, u32)| u64::from(bucket[a as usize]) << 32 | u64::from(bucket[b as usize]);
            left.into_iter().zip(right).map(packed).collect::<Vec<_>>()
        };
        buckets.iter().flat_map(pairs).collect::<BTreeSet<u64>>()
    };
    let expected: Vec<u64> = pairs_of(&small).difference(&pairs_of(&large)).copied().collect();
    assert_eq!(actual.pairs, expected, "candidate pairs");
    actual
}

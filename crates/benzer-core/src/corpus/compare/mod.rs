//! How similar are two documents exactly?
//!
//! [`groups`] says which pairs hang together; [`batches`] cuts them where the memory is bounded; [`sets`] reads the
//! documents; [`numbering`] makes small numbers of their shingles; [`overlaps`] counts what two sets share.

mod batches;
mod groups;
mod numbering;
mod overlaps;
mod sets;

use super::{Column, Corpus};
use crate::jaccard::ratio;
pub use batches::Batches;
use groups::{Ends, Group, Groups};
pub(super) use numbering::MULTIPLIER;
use overlaps::{Overlaps, Pairs, Scratch};
use rayon::prelude::*;
pub(super) use sets::Scratch as Lists;

/// Pairs that are handed to a thread together, if as many hang together or not.
const TOGETHER: usize = 32;

/// Documents, or pairs, from which on one group occupies all threads.
const LARGE: [usize; 2] = [1024, 8192];

/// The weight of each field; similarities are weighted means over the fields that both documents hold.
pub struct Weights<'a>(pub &'a [f64]);

/// How alike two documents are, field by field.
#[derive(Clone, Debug, Default)]
pub struct FieldSimilarities {
    /// The Jaccard similarity of each field; not-a-number where one lacks the field, or where it is empty in both.
    pub fields: Vec<f64>,
    /// Whether both are empty in every field.
    pub nothing: bool,
}

/// A pair in its group.
struct Pair<'a> {
    positions: [u32; 2],
    /// The places of its documents, and its own.
    places: [u32; 2],
    at: usize,
    fields: &'a [Overlaps],
}

impl Corpus {
    /// Whether a document lacks a field.
    pub fn is_missing(&self, field: usize, position: u32) -> bool {
        match &self.columns[field] {
            Column::Text { spans, .. } => spans[position as usize].is_missing(),
            Column::Values { missing, .. } => missing[position as usize],
        }
    }

    /// The exact similarity of each pair.
    ///
    /// Pairs that hang together are compared by one thread, which reads each of their documents once and drops what it
    /// made of them before the next: for the many small clusters of real data it never leaves the cache.
    pub fn similarity(&self, left: &[u32], right: &[u32], weights: &Weights<'_>) -> Vec<f64> {
        self.by_groups(left, right, |pair| self.weighted(pair, weights))
    }

    /// The similarity of each field of each pair, in the same way.
    pub fn field_similarities(&self, left: &[u32], right: &[u32]) -> Vec<FieldSimilarities> {
        self.by_groups(left, right, |pair| self.each_field(pair))
    }

    /// What `compare` says of each pair.
    fn by_groups<T: Clone + Default + Send>(
        &self, left: &[u32], right: &[u32], compare: impl Fn(&Pair<'_>) -> T + Sync,
    ) -> Vec<T> {
        let ends = Ends::new(left, right);
        let mut groups = Groups::new(&ends.left, &ends.right);
        groups.documents.iter_mut().for_each(|document| *document = ends.position(*document));
        let work = Work { corpus: self, groups: &groups, left, right, ends: &ends, compare };
        let (large, small): (Vec<&Group>, Vec<&Group>) = work.groups.groups.iter().partition(|group| is_large(group));
        let mut found = vec![T::default(); left.len()];
        for group in large {
            for (&pair, value) in work.pairs(group).iter().zip(work.large(group)) {
                found[pair as usize] = value;
            }
        }
        let values: Vec<Vec<T>> =
            parts(&small).par_iter().map_init(Buffers::default, |buffers, part| work.small(buffers, part)).collect();
        let pairs = small.iter().flat_map(|group| work.pairs(group));
        for (&pair, value) in pairs.zip(values.into_iter().flatten()) {
            found[pair as usize] = value;
        }
        found
    }

    /// The weighted mean over the fields that both hold and that are not empty in both. Without such a field, documents
    /// are alike only if both are empty in every field.
    fn weighted(&self, pair: &Pair<'_>, weights: &Weights<'_>) -> f64 {
        let mut mean = Mean::default();
        let nothing = self.counted_fields(pair, |field, value| mean.add(value, weights.0[field]));
        mean.value().unwrap_or(f64::from(u8::from(nothing)))
    }

    /// The similarity of each field that counts.
    fn each_field(&self, pair: &Pair<'_>) -> FieldSimilarities {
        let mut fields = vec![f64::NAN; self.fields()];
        let nothing = self.counted_fields(pair, |field, value| fields[field] = value);
        FieldSimilarities { fields, nothing }
    }

    /// Calls `take` with each field that both hold and that is not empty in both; says whether both are empty in all.
    #[inline(always)]
    fn counted_fields(&self, pair: &Pair<'_>, mut take: impl FnMut(usize, f64)) -> bool {
        let mut nothing = true;
        for (field, overlaps) in pair.fields.iter().enumerate() {
            let [a, b] = pair.places.map(|place| overlaps.sizes[place as usize] as usize);
            let both_empty = a + b == 0;
            nothing &= both_empty;
            let missing = pair.positions.iter().any(|&position| self.is_missing(field, position));
            if !missing && !both_empty {
                take(field, ratio(a, b, overlaps.shared[pair.at] as usize));
            }
        }
        nothing
    }
}

/// Pairs that are being compared.
struct Work<'a, F> {
    corpus: &'a Corpus,
    groups: &'a Groups,
    left: &'a [u32],
    right: &'a [u32],
    ends: &'a Ends<'a>,
    compare: F,
}

/// Buffers of one thread.
#[derive(Default)]
struct Buffers {
    scratch: Scratch,
    fields: Vec<Overlaps>,
    places: Vec<[u32; 2]>,
}

impl<T: Send, F: Fn(&Pair<'_>) -> T + Sync> Work<'_, F> {
    /// A group's pairs.
    fn pairs(&self, group: &Group) -> &[u32] {
        &self.groups.pairs[group.pairs.clone()]
    }

    fn documents(&self, group: &Group) -> &[u32] {
        &self.groups.documents[group.documents.clone()]
    }

    fn positions(&self, pair: u32) -> [u32; 2] {
        [self.left[pair as usize], self.right[pair as usize]]
    }

    fn places(&self, pair: u32) -> [u32; 2] {
        let ends = [self.ends.left[pair as usize], self.ends.right[pair as usize]];
        ends.map(|end| self.groups.places[end as usize])
    }

    /// The pairs of one group in their order, compared by all threads.
    fn large(&self, group: &Group) -> Vec<T> {
        let pairs = self.pairs(group);
        let places: Vec<[u32; 2]> = pairs.par_iter().map(|&pair| self.places(pair)).collect();
        let of_group = Pairs { documents: self.documents(group), ends: &places };
        let overlaps = |field| self.corpus.overlaps_of_many(field, &of_group);
        let fields: Vec<Overlaps> = (0..self.corpus.fields()).map(overlaps).collect();
        let one = |(at, &pair)| {
            (self.compare)(&Pair { positions: self.positions(pair), places: places[at], at, fields: &fields })
        };
        pairs.par_iter().enumerate().with_min_len(1024).map(one).collect()
    }

    /// The pairs of some groups in their order, compared by this thread.
    fn small(&self, buffers: &mut Buffers, groups: &[&Group]) -> Vec<T> {
        let Buffers { scratch, fields, places } = buffers;
        fields.resize_with(self.corpus.fields(), Overlaps::default);
        let mut values = Vec::new();
        for group in groups {
            places.clear();
            places.extend(self.pairs(group).iter().map(|&pair| self.places(pair)));
            let of_group = Pairs { documents: self.documents(group), ends: places };
            for (field, overlaps) in fields.iter_mut().enumerate() {
                self.corpus.overlaps(field, &of_group, scratch, overlaps);
            }
            let pairs = self.pairs(group).iter().zip(places.iter()).enumerate();
            values.extend(pairs.map(|(at, (&pair, &places))| {
                (self.compare)(&Pair { positions: self.positions(pair), places, at, fields })
            }));
        }
        values
    }
}

fn is_large(group: &Group) -> bool {
    group.documents.len() >= LARGE[0] || group.pairs.len() >= LARGE[1]
}

/// Neighbouring groups of some pairs together, as one thread gets them.
fn parts<'a, 'b>(groups: &'a [&'b Group]) -> Vec<&'a [&'b Group]> {
    let mut parts = Vec::new();
    let (mut start, mut pairs) = (0, 0);
    for (at, group) in groups.iter().enumerate() {
        pairs += group.pairs.len();
        if pairs >= TOGETHER || at + 1 == groups.len() {
            parts.push(&groups[start..=at]);
            (start, pairs) = (at + 1, 0);
        }
    }
    parts
}

/// A weighted mean that never leaves the range of its values: 0.8 and 0.8 make 0.8, whatever the weights.
pub struct Mean {
    sum: f64,
    total: f64,
    least: f64,
    most: f64,
}

impl Default for Mean {
    fn default() -> Self {
        Mean { sum: 0.0, total: 0.0, least: 1.0, most: 0.0 }
    }
}

impl Mean {
    /// Takes in a value.
    pub fn add(&mut self, value: f64, weight: f64) {
        self.sum += weight * value;
        self.total += weight;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// The mean; none without a value.
    pub fn value(&self) -> Option<f64> {
        (self.total > 0.0).then(|| (self.sum / self.total).clamp(self.least, self.most))
    }
}

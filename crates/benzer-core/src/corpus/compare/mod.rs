//! The exact similarity of documents.
//!
//! [`groups`] finds connected pairs; [`batches`] divides them if the memory is limited; [`sets`] reads the
//! documents; [`numbering`] makes small numbers of their shingles; [`overlaps`] counts what two sets share.

mod batches;
mod groups;
mod numbering;
mod overlaps;
mod sets;

use super::{Column, Corpus};
use crate::similarity::{Overlap, Overlaps, Similarity, Weights};
pub use batches::Batches;
use groups::{Ends, Group, Groups};
pub(super) use numbering::MULTIPLIER;
use overlaps::{FieldOverlaps, Pairs, Scratch};
use rayon::prelude::*;
pub(super) use sets::Scratch as Lists;

/// Number of pairs that a thread gets at a time, connected or not.
const TOGETHER: usize = 32;

/// Documents, or pairs, from which on one group occupies all threads.
const LARGE: [usize; 2] = [1024, 8192];

/// A pair in its group.
struct Pair<'a> {
    positions: [u32; 2],
    /// The places of its documents, and its own.
    places: [u32; 2],
    at: usize,
    fields: &'a [FieldOverlaps],
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
    /// Connected pairs are compared by one thread, which reads each of their documents once and frees their sets
    /// before the next group: the sets of the many small clusters of real data stay in the cache.
    pub fn similarity(&self, left: &[u32], right: &[u32], weights: &Weights<'_>) -> Vec<f64> {
        self.by_groups(left, right, |pair| self.weighted(pair, weights))
    }

    /// The elements that each pair shares, field by field, in the same way.
    pub fn overlaps(&self, left: &[u32], right: &[u32]) -> Overlaps {
        let each = self.by_groups(left, right, |pair| self.each_field(pair).collect::<Vec<Overlap>>());
        Overlaps { fields: self.fields(), each: each.concat() }
    }

    /// The result of `compare` for each pair.
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

    fn weighted(&self, pair: &Pair<'_>, weights: &Weights<'_>) -> f64 {
        let mut similarity = Similarity::default();
        for (overlap, &weight) in self.each_field(pair).zip(weights.0) {
            similarity.add(overlap.sizes.map(|size| size as usize), overlap.held, weight, || overlap.jaccard());
        }
        similarity.value()
    }

    /// The elements that the pair shares in each field.
    #[inline(always)]
    fn each_field<'a>(&'a self, pair: &'a Pair<'_>) -> impl Iterator<Item = Overlap> + 'a {
        pair.fields.iter().enumerate().map(|(field, overlaps)| Overlap {
            shared: overlaps.shared[pair.at],
            sizes: pair.places.map(|place| overlaps.sizes[place as usize]),
            held: !pair.positions.iter().any(|&position| self.is_missing(field, position)),
        })
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
    fields: Vec<FieldOverlaps>,
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
        let fields: Vec<FieldOverlaps> = (0..self.corpus.fields()).map(overlaps).collect();
        let one = |(at, &pair)| {
            (self.compare)(&Pair { positions: self.positions(pair), places: places[at], at, fields: &fields })
        };
        pairs.par_iter().enumerate().with_min_len(1024).map(one).collect()
    }

    /// The pairs of some groups in their order, compared by this thread.
    fn small(&self, buffers: &mut Buffers, groups: &[&Group]) -> Vec<T> {
        let Buffers { scratch, fields, places } = buffers;
        fields.resize_with(self.corpus.fields(), FieldOverlaps::default);
        let mut values = Vec::new();
        for group in groups {
            places.clear();
            places.extend(self.pairs(group).iter().map(|&pair| self.places(pair)));
            let of_group = Pairs { documents: self.documents(group), ends: places };
            for (field, overlaps) in fields.iter_mut().enumerate() {
                self.corpus.overlaps_of_few(field, &of_group, scratch, overlaps);
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

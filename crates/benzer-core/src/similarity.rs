//! The similarity of two documents from the elements that their fields share: the only definition.
//!
//! The similarity is the weighted mean over the fields that both documents hold and that are not empty in both. Without
//! such a field, documents are similar (1) only if both are empty in every field.

use crate::jaccard::ratio;

/// The weight of each field.
pub struct Weights<'a>(pub &'a [f64]);

/// The similarity of two documents, field by field.
pub struct Similarity {
    mean: Mean,
    nothing: bool,
}

impl Default for Similarity {
    fn default() -> Self {
        Similarity { mean: Mean::default(), nothing: true }
    }
}

impl Similarity {
    /// Adds a field by the sizes of its sets, and whether both documents hold it. `value` is its similarity, and is
    /// called only if the field counts.
    #[inline(always)]
    pub fn add(&mut self, sizes: [usize; 2], held: bool, weight: f64, value: impl FnOnce() -> f64) {
        let both_empty = sizes == [0, 0];
        self.nothing &= both_empty;
        if held && !both_empty {
            self.mean.add(value(), weight);
        }
    }

    /// The similarity of the documents.
    #[inline(always)]
    pub fn value(&self) -> f64 {
        self.counted().unwrap_or(f64::from(u8::from(self.nothing)))
    }

    /// The weighted mean; none where no field counts.
    #[inline(always)]
    pub fn counted(&self) -> Option<f64> {
        self.mean.value()
    }
}

/// A weighted mean that never leaves the range of its values: 0.8 and 0.8 make 0.8, whatever the weights.
struct Mean {
    sum: f64,
    total: f64,
    least: f64,
    most: f64,
}

impl Default for Mean {
    fn default() -> Self {
        Mean { sum: 0.0, total: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY }
    }
}

impl Mean {
    fn add(&mut self, value: f64, weight: f64) {
        self.sum += weight * value;
        self.total += weight;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    fn value(&self) -> Option<f64> {
        (self.total > 0.0).then(|| (self.sum / self.total).max(self.least).min(self.most))
    }
}

/// The elements that one field of two documents shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// Elements of both sets.
    pub shared: u32,
    /// Elements of each set.
    pub sizes: [u32; 2],
    /// Whether both documents hold the field.
    pub held: bool,
}

impl Overlap {
    fn lengths(&self) -> [usize; 2] {
        self.sizes.map(|size| size as usize)
    }

    /// Whether the field counts in the similarity: both hold it, and it is not empty in both.
    pub fn counts(&self) -> bool {
        self.held && self.sizes != [0, 0]
    }

    /// The Jaccard similarity of the sets; 1 for two empty ones.
    pub fn jaccard(&self) -> f64 {
        let [a, b] = self.lengths();
        ratio(a, b, self.shared as usize)
    }

    /// The share of one side's elements that the other has; none where that has no element, or a document lacks the field.
    pub fn containment(&self, side: usize) -> Option<f64> {
        let size = self.sizes[side];
        (self.held && size > 0).then(|| f64::from(self.shared) / f64::from(size))
    }
}

/// The similarities of one field that come from outside, such as those of a field type with a similarity of its own.
pub type Own<'a> = Option<&'a [f64]>;

/// The elements that pairs of documents share, field by field.
#[derive(Debug, Default)]
pub struct Overlaps {
    /// The number of fields.
    pub fields: usize,
    /// For each pair, each field.
    pub each: Vec<Overlap>,
}

impl Overlaps {
    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.each.len() / self.fields
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// For each pair the similarity, then that of each field: not-a-number where one document lacks it.
    ///
    /// The similarity of a field is the Jaccard similarity of its sets, unless `own` has one for each pair.
    pub fn similarities(&self, weights: &Weights<'_>, own: &[Own<'_>]) -> Vec<f64> {
        let mut table = Vec::with_capacity(self.each.len() + self.len());
        for (pair, overlaps) in self.each.chunks(self.fields).enumerate() {
            let start = table.len();
            table.push(0.0);
            let mut similarity = Similarity::default();
            for (field, overlap) in overlaps.iter().enumerate() {
                let value = own[field].map_or_else(|| overlap.jaccard(), |own| own[pair]);
                similarity.add(overlap.lengths(), overlap.held, weights.0[field], || value);
                table.push(if overlap.held { value } else { f64::NAN });
            }
            table[start] = similarity.value();
        }
        table
    }

    /// For each pair the share of one side (0 or 1) that the other has, then that of each field.
    ///
    /// Both are not-a-number where nothing counts: a document lacks the field, it is empty on that side, or its weight
    /// is 0.
    pub fn containments(&self, weights: &Weights<'_>, side: usize) -> Vec<f64> {
        let mut table = Vec::with_capacity(self.each.len() + self.len());
        for overlaps in self.each.chunks(self.fields) {
            let start = table.len();
            table.push(0.0);
            let mut mean = Mean::default();
            for (overlap, &weight) in overlaps.iter().zip(weights.0) {
                let share = overlap.containment(side).filter(|_| weight > 0.0);
                share.inspect(|&share| mean.add(share, weight));
                table.push(share.unwrap_or(f64::NAN));
            }
            table[start] = mean.value().unwrap_or(f64::NAN);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(shared: u32, sizes: [u32; 2]) -> Overlap {
        Overlap { shared, sizes, held: true }
    }

    fn similarities(each: &[Overlap], weights: &[f64], own: &[Own<'_>]) -> Vec<f64> {
        let overlaps = Overlaps { fields: weights.len(), each: each.to_vec() };
        overlaps.similarities(&Weights(weights), own)
    }

    #[test]
    fn the_mean_counts_what_both_hold_and_one_fills() {
        let lacking = Overlap { held: false, ..overlap(0, [0, 3]) };
        let found = similarities(&[overlap(1, [1, 2]), overlap(0, [0, 0]), lacking], &[1.0, 2.0, 3.0], &[None; 3]);
        assert_eq!(found[..3], [0.5, 0.5, 1.0]);
        assert!(found[3].is_nan());
    }

    #[test]
    fn documents_without_a_field_that_counts_are_similar_if_all_is_empty() {
        let (empty, lacking) = (overlap(0, [0, 0]), Overlap { held: false, ..overlap(0, [0, 3]) });
        assert_eq!(similarities(&[empty, empty], &[1.0, 1.0], &[None; 2])[0], 1.0);
        assert_eq!(similarities(&[empty, lacking], &[1.0, 1.0], &[None; 2])[0], 0.0);
        assert_eq!(similarities(&[Overlap::default()], &[1.0], &[None])[0], 1.0);
    }

    #[test]
    fn the_mean_stays_within_its_fields() {
        let fields = [overlap(4, [4, 5]), overlap(4, [5, 4])];
        assert_eq!(similarities(&fields, &[0.7, 0.9], &[None; 2]), [0.8, 0.8, 0.8]);
    }

    #[test]
    fn a_similarity_from_outside_takes_the_place_of_the_sets() {
        let found = similarities(&[overlap(1, [1, 2]), overlap(0, [3, 3])], &[1.0, 1.0], &[None, Some(&[0.75])]);
        assert_eq!(found, [0.625, 0.5, 0.75]);
        assert_eq!(similarities(&[overlap(1, [1, 1])], &[1.0], &[Some(&[1.5])]), [1.5, 1.5]);
    }

    #[test]
    fn containment_is_the_share_of_one_side() {
        let overlaps = Overlaps { fields: 2, each: vec![overlap(1, [2, 4]), overlap(0, [0, 1])] };
        let found = |side| overlaps.containments(&Weights(&[1.0, 3.0]), side);
        assert_eq!(found(1), [0.0625, 0.25, 0.0]);
        assert_eq!(found(0)[..2], [0.5, 0.5]);
        assert!(found(0)[2].is_nan());
        assert!(overlaps.containments(&Weights(&[0.0, 3.0]), 0).iter().all(|share| share.is_nan()));
    }
}

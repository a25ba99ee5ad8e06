//! Families: the documents of large buckets, compared with the kept documents among them.
//!
//! A family of n documents made from one template has n² / 2 pairs, but only the pairs with kept documents decide which
//! documents are removed. Documents are taken in keep order. Each is compared with every leader before it that is in one
//! of its large buckets; a document that may lead becomes a leader if it is similar to none of them.
//!
//! A family usually has few leaders, and each document is compared with all of them. Documents that only share
//! boilerplate are all leaders, so many leaders are found by a prefix filter ([`prefix`]). The filter is exact: what it
//! skips is below the threshold.
//!
//! | file | content |
//! |---|---|
//! | `family` | one family: which documents are compared, and in which order |
//! | `bitmaps` | bitmaps that show that two sets are not similar |
//! | `few` | documents compared with few leaders |
//! | `prefix` | the prefix filter |
//! | `table` | sets as hash tables |

mod bitmaps;
mod family;
mod few;
mod prefix;
mod table;
#[cfg(test)]
mod tests;

use super::Corpus;
use crate::buckets::{LargeBuckets, Memberships};
use crate::clusters::components;
use crate::jaccard::ratio;
use crate::similarity::{Similarity, Weights};
use crate::watch;
use family::Family;
use rayon::prelude::*;

/// Families with more documents are worked on by all threads, one after the other.
const LARGE: usize = 4096;

const NONE: u32 = u32::MAX;

/// The result of the comparison of families.
#[derive(Debug, Default, PartialEq)]
pub struct FamilyPairs {
    /// Documents, each with a leader before it that is similar at the threshold or above, in keep order of the
    /// documents within each family.
    pub documents: Vec<u32>,
    /// Their leaders.
    pub leaders: Vec<u32>,
    /// The exact similarity of each pair.
    pub similarity: Vec<f64>,
    /// All documents that became leaders.
    pub led: Vec<u32>,
}

impl FamilyPairs {
    fn append(&mut self, other: FamilyPairs) {
        self.documents.extend(other.documents);
        self.leaders.extend(other.leaders);
        self.similarity.extend(other.similarity);
        self.led.extend(other.led);
    }
}

/// How families are compared.
pub struct Families<'a> {
    /// The documents.
    pub corpus: &'a Corpus,
    /// The weight of each field.
    pub weights: Weights<'a>,
    /// The similarity from which two documents are duplicates.
    pub threshold: f64,
    /// The place of each document in the keep order.
    pub rank: &'a [u32],
    /// The large buckets.
    pub large: &'a LargeBuckets,
    /// The large buckets of each document.
    pub memberships: &'a Memberships,
}

impl Families<'_> {
    /// Compares the documents of all large buckets that have a document in `may_lead` (ascending); only these become
    /// leaders. The result depends on neither threads nor the order of documents.
    pub fn compare(&self, may_lead: &[u32]) -> FamilyPairs {
        let mut lead = vec![false; self.rank.len()];
        may_lead.iter().for_each(|&document| lead[document as usize] = true);
        let families = self.families(&lead);
        watch::begin(families.iter().map(Vec::len).sum());
        let (large, small): (Vec<_>, Vec<_>) = families.into_iter().partition(|family| family.len() > LARGE);
        let run = |family: Vec<u32>| Family::new(self, &lead, &family).run();
        let mut found = FamilyPairs::default();
        large.into_iter().for_each(|family| found.append(run(family)));
        let parts: Vec<FamilyPairs> = small.into_par_iter().map(run).collect();
        parts.into_iter().for_each(|part| found.append(part));
        found
    }

    /// Adds a field of two documents to their similarity, by the sizes of their sets and what they share.
    fn add(
        &self, similarity: &mut Similarity, field: usize, positions: [u32; 2], sizes: [usize; 2],
        shared: impl FnOnce() -> usize,
    ) {
        let held = !positions.iter().any(|&position| self.corpus.is_missing(field, position));
        similarity.add(sizes, held, self.weights.0[field], || ratio(sizes[0], sizes[1], shared()));
    }

    /// The documents that large buckets connect, those of each family in keep order.
    fn families(&self, lead: &[bool]) -> Vec<Vec<u32>> {
        let count = self.rank.len();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut order = vec![NONE; count];
        for bucket in self.large.iter().filter(|bucket| bucket.iter().any(|&one| lead[one as usize])) {
            left.extend(std::iter::repeat_n(bucket[0], bucket.len()));
            right.extend_from_slice(bucket);
            bucket.iter().for_each(|&document| order[self.rank[document as usize] as usize] = document);
        }
        let label = components(count, &left, &right);
        let mut families: Vec<Vec<u32>> = Vec::new();
        let mut family_of = vec![NONE; count];
        for document in order.into_iter().filter(|&document| document != NONE) {
            let family = &mut family_of[label[document as usize] as usize];
            if *family == NONE {
                *family = families.len() as u32;
                families.push(Vec::new());
            }
            families[*family as usize].push(document);
        }
        families
    }
}

//! Pairs of similar sets, and of sets that contain each other, in one collection.

use super::bounds::Threshold;
use super::index::{Asking, Index, Scratch};
use super::scratch::Scratches;
use crate::isa::{self, Level, Task};
use crate::jaccard::Sets;
use crate::watch;
use rayon::prelude::*;
use std::ops::Range;

/// Sets that one thread processes at a time.
const CHUNK: usize = 64;

/// The condition of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// |A ∩ B| / |A ∪ B| reaches the threshold: the lower place is left.
    Alike,
    /// |A ∩ B| / |A| reaches the threshold: A is left.
    Contained,
}

/// Two places, and the similarity of their sets, or the share of the left set that is in the right one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The place of a set.
    pub left: u32,
    /// The place of another.
    pub right: u32,
    /// The Jaccard similarity, or the containment.
    pub value: f64,
}

/// Sets that are compared with each other.
pub struct Join {
    index: Index,
    threshold: Threshold,
    relation: Relation,
    scratches: Scratches<Scratch>,
}

struct Chunk<'a> {
    join: &'a Join,
    numbers: Range<usize>,
}

impl Task for Chunk<'_> {
    type Output = Vec<Pair>;

    #[inline(always)]
    fn run<L: Level>(self) -> Vec<Pair> {
        let Chunk { join, numbers } = self;
        let (mut scratch, mut pairs) = (join.scratches.take(), Vec::new());
        for number in numbers {
            watch::look();
            match join.relation {
                Relation::Alike => join.alike(number, &mut scratch, &mut pairs),
                Relation::Contained => join.contained(number, &mut scratch, &mut pairs),
            }
        }
        join.scratches.give(scratch);
        pairs
    }
}

impl Join {
    /// Prepares `sets`. An empty set has no pairs.
    pub fn new(sets: Sets, relation: Relation, threshold: f64) -> Join {
        let threshold = Threshold::new(threshold);
        let index = match relation {
            // Only sets of at least this size are queries, and these must share more to be similar.
            Relation::Alike => Index::new(sets, 1, |size| size + 1 - threshold.least_shared(2 * size)),
            Relation::Contained => Index::new(sets, 1, |size| size + 1 - threshold.least_of(size)),
        };
        Join { index, threshold, relation, scratches: Scratches::default() }
    }

    /// The number of queries: sets that are not empty.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pairs that the sets of these numbers find, on all threads of the current pool, in no particular order. Over
    /// all numbers below [`Join::len`], each pair is found once.
    pub fn pairs(&self, numbers: Range<usize>) -> Vec<Pair> {
        let starts: Vec<usize> = numbers.clone().step_by(CHUNK).collect();
        let one = |start: usize| isa::run(Chunk { join: self, numbers: start..(start + CHUNK).min(numbers.end) });
        let parts: Vec<Vec<Pair>> = starts.into_par_iter().map(one).collect();
        parts.concat()
    }

    /// The previous sets that are similar.
    #[inline(always)]
    fn alike(&self, number: usize, scratch: &mut Scratch, pairs: &mut Vec<Pair>) {
        let set = self.index.set(number);
        let least = self.threshold.least_of(set.len());
        let low = self.index.first_of_size(|size| size >= least);
        let asking = Asking { set, most: set.len() + 1 - least, numbers: [low, number] };
        let need = |size| self.threshold.least_shared(set.len() + size);
        let place = self.index.place(number);
        self.index.ask(asking, need, scratch, |other, shared| {
            let union = set.len() + self.index.size(other) - shared;
            let other = self.index.place(other);
            let (left, right) = (place.min(other), place.max(other));
            pairs.push(Pair { left, right, value: shared as f64 / union as f64 });
        });
    }

    /// The sets that this one contains.
    #[inline(always)]
    fn contained(&self, number: usize, scratch: &mut Scratch, pairs: &mut Vec<Pair>) {
        let set = self.index.set(number);
        let high = self.index.first_of_size(|size| self.threshold.least_of(size) > set.len());
        // An element that is rare here may be anywhere in the order of a set that contains it: all elements are
        // looked up.
        let asking = Asking { set, most: set.len(), numbers: [0, high] };
        let right = self.index.place(number);
        self.index.ask(
            asking,
            |size| self.threshold.least_of(size),
            scratch,
            |other, shared| {
                let value = shared as f64 / self.index.size(other) as f64;
                if other != number {
                    pairs.push(Pair { left: self.index.place(other), right, value });
                }
            },
        );
    }
}

/// Sorts pairs by their places.
pub fn sort(pairs: &mut [Pair]) {
    pairs.par_sort_unstable_by_key(|pair| (pair.left, pair.right));
}

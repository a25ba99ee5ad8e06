//! Sets that are similar to one of a few given sets.

use super::bounds::Threshold;
use super::index::{Asking, Index, Scratch};
use super::scratch::Scratches;
use crate::isa::{self, Level, Task};
use crate::jaccard::Sets;
use crate::watch;

/// A few sets, with which many are compared one after the other.
pub struct Queries {
    index: Index,
    threshold: Threshold,
    scratches: Scratches<Scratch>,
}

struct Ask<'a> {
    queries: &'a Queries,
    sets: &'a Sets,
}

impl Task for Ask<'_> {
    type Output = Vec<(u32, u32)>;

    #[inline(always)]
    fn run<L: Level>(self) -> Self::Output {
        let Ask { queries: Queries { index, threshold, scratches }, sets } = self;
        let (mut scratch, mut found) = (scratches.take(), Vec::new());
        for at in 0..sets.offsets.len() - 1 {
            watch::look();
            let set = sets.get(at);
            let least = threshold.least_of(set.len());
            let low = index.first_of_size(|size| size >= least);
            let high = index.first_of_size(|size| threshold.least_of(size) > set.len());
            let asking = Asking { set, most: (set.len() + 1).saturating_sub(least), numbers: [low, high] };
            let need = |size| threshold.least_shared(set.len() + size);
            index.ask(asking, need, &mut scratch, |number, _| found.push((index.place(number), at as u32)));
        }
        scratches.give(scratch);
        found
    }
}

impl Queries {
    /// Prepares `sets`.
    pub fn new(sets: Sets, threshold: f64) -> Queries {
        let threshold = Threshold::new(threshold);
        let index = Index::new(sets, 0, |size| size + 1 - threshold.least_of(size));
        Queries { index, threshold, scratches: Scratches::default() }
    }

    /// Every pair of a query and one of some `sets` whose Jaccard similarity reaches the threshold, by their places,
    /// in no particular order. An empty set has no pairs.
    pub fn of(&self, sets: &Sets) -> Vec<(u32, u32)> {
        isa::run(Ask { queries: self, sets })
    }
}

//! Batches of pairs that are compared together if the memory is limited.

use super::super::Corpus;
use super::groups::{Ends, Groups};

/// Bytes of the texts of pairs that are compared between two looks at signals: that takes about a second.
const COMPARED_TOGETHER: u64 = 4 << 30;

/// Pairs, cut into batches.
#[derive(Debug, Default)]
pub struct Batches {
    /// The pairs, connected ones adjacent. This order depends only on the pairs.
    pub order: Vec<u32>,
    /// Where each batch ends in that order.
    pub ends: Vec<usize>,
}

/// The batch that is being filled.
struct Filling {
    batch: u32,
    /// The bytes of its documents and pairs; a document may have many pairs.
    held: u64,
    compared: u64,
}

impl Corpus {
    /// Batches of pairs whose documents have `most` bytes together (one pair may have more). Only connected pairs
    /// whose documents have more are divided; all other documents are read for one batch only.
    pub fn batches(&self, left: &[u32], right: &[u32], most: u64) -> Batches {
        let pairs = Ends::new(left, right);
        let groups = Groups::new(&pairs.left, &pairs.right);
        let places = 0..groups.places.len() as u32;
        let sizes: Vec<u64> = places.map(|place| self.size(pairs.position(place) as usize)).collect();
        cut(groups, [&pairs.left, &pairs.right], &sizes, [most, COMPARED_TOGETHER])
    }
}

fn cut(groups: Groups, [left, right]: [&[u32]; 2], sizes: &[u64], most: [u64; 2]) -> Batches {
    let mut held_in = vec![0; sizes.len()];
    let mut ends = Vec::new();
    let mut now = Filling { batch: 1, held: 0, compared: 0 };
    for group in &groups.groups {
        let whole =
            groups.documents[group.documents.clone()].iter().map(|&document| sizes[document as usize]).sum::<u64>();
        if now.held > 0 && now.held + whole > most[0] && whole <= most[0] {
            ends.push(group.pairs.start);
            now = Filling { batch: now.batch + 1, held: 0, compared: 0 };
        }
        for at in group.pairs.clone() {
            let pair = groups.pairs[at] as usize;
            let [a, b] = [left[pair] as usize, right[pair] as usize];
            let new = |batch| [a, b].iter().filter(|&&end| held_in[end] != batch).map(|&end| sizes[end]).sum::<u64>();
            let full = now.held + new(now.batch) > most[0] || now.compared + sizes[a] + sizes[b] > most[1];
            if full && ends.last().copied().unwrap_or(0) < at {
                ends.push(at);
                now = Filling { batch: now.batch + 1, held: 0, compared: 0 };
            }
            now.held += new(now.batch);
            now.compared += sizes[a] + sizes[b];
            held_in[a] = now.batch;
            held_in[b] = now.batch;
        }
    }
    if !left.is_empty() {
        ends.push(left.len());
    }
    Batches { order: groups.pairs, ends }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(left: &[u32], right: &[u32], sizes: &[u64], most: [u64; 2]) -> Vec<usize> {
        let found = cut(Groups::new(left, right), [left, right], sizes, most);
        let mut order = found.order.clone();
        order.sort_unstable();
        assert!(order.iter().enumerate().all(|(at, &pair)| at as u32 == pair));
        found.ends
    }

    #[test]
    fn groups_stay_whole_where_they_fit() {
        let (left, right) = ([0, 1, 3, 5, 5], [1, 2, 4, 6, 7]);
        assert_eq!(ends(&left, &right, &[10; 8], [1000, 1000]), [5]);
        assert_eq!(ends(&left, &right, &[10; 8], [50, 1000]), [3, 5]);
        assert_eq!(ends(&left, &right, &[10; 8], [49, 1000]), [2, 3, 5]);
        assert_eq!(ends(&left, &right, &[10; 8], [1000, 40]), [2, 4, 5]);
    }

    #[test]
    fn groups_that_do_not_fit_are_cut_and_a_pair_never_is() {
        let (left, right) = ([0, 0, 0, 1], [1, 2, 3, 2]);
        assert_eq!(ends(&left, &right, &[10; 4], [30, 1000]), [2, 3, 4]);
        assert_eq!(ends(&left, &right, &[10; 4], [1, 1]), [1, 2, 3, 4]);
        assert_eq!(ends(&[0], &[0], &[0], [0, 0]), [1]);
        assert_eq!(ends(&[], &[], &[], [0, 0]), [0; 0]);
    }
}

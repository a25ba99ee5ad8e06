//! Decisions: small cases by hand, and equality with deciding everything again from scratch.

use super::*;
use crate::buckets::LargeBuckets;
use crate::hash::mix::SplitMix64;
use std::collections::{BTreeMap, BTreeSet};

type Edge = (u32, u32, f64);

fn with_pairs<T>(edges: &[Edge], run: impl FnOnce(Pairs<'_>) -> T) -> T {
    let left: Vec<u32> = edges.iter().map(|e| e.0).collect();
    let right: Vec<u32> = edges.iter().map(|e| e.1).collect();
    let similarity: Vec<f64> = edges.iter().map(|e| e.2).collect();
    run(Pairs { left: &left, right: &right, similarity: &similarity })
}

fn start(rank: &[u32], original: &[u32], edges: &[Edge]) -> Deciding {
    with_pairs(edges, |pairs| Deciding::new(rank, original, pairs, 0.8, Memberships::default(), Vec::new()))
}

fn decide(rank: &[u32], edges: &[Edge]) -> (Vec<u32>, Vec<f64>, Vec<[u32; 2]>) {
    let own: Vec<u32> = (0..rank.len() as u32).collect();
    let mut deciding = start(rank, &own, edges);
    let (leader, similarity) = deciding.outcome();
    (leader, similarity, deciding.wanted())
}

#[test]
fn a_chain_removes_only_what_is_similar_to_a_kept_document() {
    let chain = [(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9)];
    let (leader, _, wanted) = decide(&[0, 1, 2, 3], &chain);
    assert_eq!((leader, wanted), (vec![0, 0, 2, 2], vec![[0, 2]]));
    for known in [(0, 2, 0.7), (2, 0, 0.7)] {
        let (leader, _, wanted) = decide(&[0, 1, 2, 3], &[&chain[..], &[known, (1, 3, 0.1)]].concat());
        assert_eq!((leader, wanted), (vec![0, 0, 2, 2], vec![]));
    }
}

#[test]
fn a_copy_names_the_best_that_comes_before_itself() {
    let deciding = start(&[0, 1, 3, 2], &[0, 1, 1, 3], &[(0, 1, 0.85), (1, 3, 0.95), (0, 3, 0.5)]);
    let (leader, similarity) = deciding.outcome();
    assert_eq!((leader, similarity[2]), (vec![0, 0, 3, 3], 0.95));
}

#[test]
fn the_best_leader_wins_and_rank_breaks_ties() {
    let (leader, similarity, _) = decide(&[0, 1, 2], &[(0, 2, 0.85), (1, 2, 0.95)]);
    assert_eq!((leader[2], similarity[2]), (1, 0.95));
    assert_eq!(decide(&[1, 0, 2], &[(0, 2, 0.9), (1, 2, 0.9)]).0[2], 1);
}

#[test]
fn pairs_below_the_threshold_do_not_count() {
    assert_eq!(decide(&[0, 1], &[(0, 1, 0.79)]).0, [0, 1]);
    assert_eq!(decide(&[0, 1], &[(0, 1, 0.8)]).0, [0, 0]);
}

#[test]
fn components_are_named_by_their_lowest_member() {
    assert_eq!(components(6, &[4, 1, 2], &[5, 2, 4]), [0, 1, 1, 3, 1, 1]);
}

/// The definition, without anything kept from one round to the next: all documents and all pairs are looked at again.
struct FromScratch<'a> {
    rank: &'a [u32],
    original: &'a [u32],
    pairs: BTreeMap<[u32; 2], f64>,
}

impl FromScratch<'_> {
    fn ties(&self, document: u32) -> Vec<(u32, f64)> {
        let ends = |(&[a, b], &s): (&[u32; 2], &f64)| [(a, b, s), (b, a, s)];
        let ties = self.pairs.iter().flat_map(ends).filter(|&(from, _, s)| from == document && s >= 0.8);
        ties.map(|(_, to, s)| (to, s)).collect()
    }

    /// Leaders, similarities and wanted pairs.
    fn round(&self) -> (Vec<u32>, Vec<f64>, BTreeSet<[u32; 2]>) {
        let count = self.rank.len() as u32;
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by_key(|&document| self.rank[document as usize]);
        let mut kept = vec![false; count as usize];
        for &document in &order {
            kept[document as usize] = self.original[document as usize] == document
                && !self.ties(document).iter().any(|&(other, _)| kept[other as usize]);
        }
        let (mut leader, mut similarity) = ((0..count).collect::<Vec<u32>>(), vec![1.0; count as usize]);
        for document in (0..count).filter(|&document| !kept[document as usize]) {
            let original = self.original[document as usize];
            let mut candidates = self.ties(original);
            candidates
                .retain(|&(other, _)| kept[other as usize] && self.rank[other as usize] < self.rank[document as usize]);
            candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(self.rank[a.0 as usize].cmp(&self.rank[b.0 as usize])));
            let best = if kept[original as usize] { (original, 1.0) } else { candidates[0] };
            (leader[document as usize], similarity[document as usize]) = best;
        }
        let mut wanted = BTreeSet::new();
        for document in (0..count).filter(|&document| kept[document as usize]) {
            for (other, _) in self.ties(document) {
                let other = leader[other as usize];
                let pair = [document.min(other), document.max(other)];
                if other != document && !self.pairs.contains_key(&pair) {
                    wanted.insert(pair);
                }
            }
        }
        (leader, similarity, wanted)
    }
}

/// Similarities of all pairs of `count` documents on a line: neighbours are similar, chains are long.
fn similarities(count: u32, random: &mut SplitMix64) -> BTreeMap<[u32; 2], f64> {
    let width = 2 + random.next_u64() % 40;
    let places: Vec<u64> = (0..count).map(|_| random.next_u64() % (u64::from(count) * width / 8 + 1)).collect();
    let similarity = |[a, b]: [u32; 2]| {
        let apart = places[a as usize].abs_diff(places[b as usize]) as f64;
        (1.0 - apart / 50.0).max(0.0)
    };
    (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])).map(|pair| (pair, similarity(pair))).collect()
}

#[test]
fn looking_only_at_what_changed_equals_deciding_everything_again() {
    let mut random = SplitMix64::new(31);
    let mut rounds = 0;
    for case in 0..300 {
        let count = [3, 8, 20, 60][case % 4];
        let all = similarities(count, &mut random);
        let share = [20, 50, 80][case % 3];
        let pairs: BTreeMap<[u32; 2], f64> =
            all.iter().filter(|_| random.next_u64() % 100 < share).map(|(&pair, &s)| (pair, s)).collect();
        let mut rank: Vec<u32> = (0..count).collect();
        (1..count as usize).for_each(|at| rank.swap(at, random.next_u64() as usize % (at + 1)));
        let own: Vec<u32> = (0..count).collect();
        let edges: Vec<Edge> = pairs.iter().map(|(&[a, b], &s)| (a, b, s)).collect();
        let mut deciding = start(&rank, &own, &edges);
        let mut scratch = FromScratch { rank: &rank, original: &own, pairs };
        loop {
            let (leader, similarity, wanted) = scratch.round();
            assert_eq!(deciding.outcome(), (leader, similarity));
            let found = deciding.wanted();
            assert_eq!(found, wanted.into_iter().collect::<Vec<_>>(), "case {case}");
            if found.is_empty() {
                break;
            }
            rounds += 1;
            let more: Vec<Edge> = found.iter().map(|&[a, b]| (a, b, all[&[a, b]])).collect();
            with_pairs(&more, |pairs| deciding.add(pairs));
            scratch.pairs.extend(more.iter().map(|&(a, b, s)| ([a, b], s)));
        }
    }
    assert!(rounds > 100, "{rounds} rounds test little");
}

#[test]
fn kept_documents_of_large_buckets_lead_until_all_are_compared() {
    let mut large = LargeBuckets::default();
    large.push(&[0, 1, 2, 3]);
    let (rank, own) = ([0, 1, 2, 3], [0, 1, 2, 3]);
    let memberships = Memberships::new(4, &large);
    let mut deciding =
        with_pairs(&[(0, 1, 0.9)], |pairs| Deciding::new(&rank, &own, pairs, 0.8, memberships, vec![0, 1, 2, 3]));
    assert_eq!(deciding.new_leaders(), [0, 2, 3]);
    // Document 3 is similar to 2; both have been compared with 0, and 3 with 2.
    with_pairs(&[(3, 2, 0.85)], |pairs| deciding.add(pairs));
    deciding.lead(&[0, 2]);
    assert!(deciding.new_leaders().is_empty());
    assert_eq!(deciding.outcome().0, [0, 0, 2, 2]);
    // Where 2 turns out to be removed, 3 is kept and must lead as well.
    with_pairs(&[(2, 0, 0.8)], |pairs| deciding.add(pairs));
    assert_eq!(deciding.new_leaders(), [3]);
    assert!(deciding.wanted().is_empty(), "documents of one large bucket are compared there");
}

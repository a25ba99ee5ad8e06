//! The joins find the same pairs as comparing all sets.

use super::{Join, Pair, Queries, Relation, sort};
use crate::hash::mix::SplitMix64;
use crate::jaccard::{Sets, intersection, jaccard};

/// Thresholds that quotients of small sets hit exactly, and their neighbours in float64.
const THRESHOLDS: [f64; 9] = [1e-9, 0.2, 1.0 / 3.0, 0.5, 0.6, 2.0 / 3.0, 0.8, 0.9, 1.0];

/// Sets of few distinct elements, so that many are similar, equal, empty or of one element.
fn collection(random: &mut SplitMix64) -> Sets {
    let mut up_to = |most: u64| random.next_u64() % (most + 1);
    let (count, universe, largest) = (up_to(40), 1 + up_to(60), 1 + up_to(40));
    let spread = [1, 0x9E37_79B9_7F4A_7C15][up_to(1) as usize];
    let mut sets = Sets { offsets: vec![0], hashes: Vec::new() };
    for _ in 0..count {
        let earlier = sets.offsets.len() as u64 - 1;
        let mut set: Vec<u64> = match up_to(3) {
            0 if earlier > 0 => sets.get(up_to(earlier - 1) as usize).to_vec(),
            _ => (0..up_to(largest)).map(|_| up_to(universe).wrapping_mul(spread)).collect(),
        };
        for _ in 0..up_to(2) {
            set.push(up_to(universe).wrapping_mul(spread));
        }
        set.sort_unstable();
        set.dedup();
        sets.hashes.extend(set);
        sets.offsets.push(sets.hashes.len());
    }
    sets
}

/// Every pair of places of two collections whose sets are similar, by comparing all.
fn all_alike(a: &Sets, b: &Sets, threshold: f64) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for i in 0..a.offsets.len() - 1 {
        for j in 0..b.offsets.len() - 1 {
            let (one, other) = (a.get(i), b.get(j));
            if !one.is_empty() && !other.is_empty() && jaccard(one, other) >= threshold {
                found.push((i as u32, j as u32));
            }
        }
    }
    found
}

#[test]
fn neighbours_are_those_of_comparing_all() {
    let mut random = SplitMix64::new(1);
    let mut pairs = 0;
    for _ in 0..600 {
        let (queries, sets) = (collection(&mut random), collection(&mut random));
        for threshold in THRESHOLDS {
            let want = all_alike(&queries, &sets, threshold);
            let given = Sets { offsets: queries.offsets.clone(), hashes: queries.hashes.clone() };
            let mut found = Queries::new(given, threshold).of(&sets);
            found.sort_unstable();
            assert_eq!(found, want, "at {threshold}");
            pairs += want.len();
        }
    }
    assert!(pairs > 10_000, "only {pairs} pairs");
}

/// Every pair of a relation by comparing all.
fn all_pairs(sets: &Sets, relation: Relation, threshold: f64) -> Vec<Pair> {
    let count = sets.offsets.len() - 1;
    let ordered = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
    let filled = ordered.filter(|&(a, b)| a != b && !sets.get(a).is_empty() && !sets.get(b).is_empty());
    let asked = filled.filter(|&(a, b)| a < b || relation == Relation::Contained);
    let valued = asked.map(|(a, b)| {
        let (one, other) = (sets.get(a), sets.get(b));
        let value = match relation {
            Relation::Alike => jaccard(one, other),
            Relation::Contained => intersection(one, other) as f64 / one.len() as f64,
        };
        Pair { left: a as u32, right: b as u32, value }
    });
    valued.filter(|pair| pair.value >= threshold).collect()
}

#[test]
fn joins_find_what_comparing_all_finds() {
    let mut random = SplitMix64::new(2);
    let mut counts = [0, 0];
    for round in 0..1200 {
        let sets = collection(&mut random);
        for threshold in THRESHOLDS {
            for (relation, count) in [Relation::Alike, Relation::Contained].into_iter().zip(&mut counts) {
                let given = Sets { offsets: sets.offsets.clone(), hashes: sets.hashes.clone() };
                let join = Join::new(given, relation, threshold);
                let half = join.len() / 2;
                let mut found = join.pairs(0..half);
                found.extend(join.pairs(half..join.len()));
                sort(&mut found);
                let want = all_pairs(&sets, relation, threshold);
                assert_eq!(found, want, "{relation:?} at {threshold} in round {round}");
                *count += want.len();
            }
        }
    }
    assert!(counts.into_iter().all(|count| count > 10_000), "only {counts:?} pairs");
}

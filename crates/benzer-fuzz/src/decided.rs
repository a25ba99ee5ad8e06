//! Decisions: a removed document names a kept one, to which it is as similar as it says.

use benzer_core::buckets::{Candidates, Memberships};
use benzer_core::clusters::{Deciding, Pairs};
use benzer_core::corpus::Families;
use benzer_core::similarity::Weights;

use crate::documents::Documents;

/// Rounds after which a decision must be final: each adds a pair or a leader.
const ROUNDS: usize = 1000;

/// Pairs of documents, and their similarity by the core.
#[derive(Default)]
struct Compared {
    left: Vec<u32>,
    right: Vec<u32>,
    similarity: Vec<f64>,
}

impl Compared {
    fn new(documents: &Documents, pairs: impl Iterator<Item = [u32; 2]>) -> Compared {
        let (left, right): (Vec<u32>, Vec<u32>) = pairs.map(|[a, b]| (a, b)).unzip();
        let similarity = documents.corpus.similarity(&left, &right, &Weights(&documents.weights));
        Compared { left, right, similarity }
    }

    fn pairs(&self) -> Pairs<'_> {
        Pairs { left: &self.left, right: &self.right, similarity: &self.similarity }
    }
}

/// Where all pairs are compared, each document is decided in keep order by the kept ones before it.
pub fn check_pairs_decided(documents: &Documents, rank: &[u32], threshold: f64) {
    let count = documents.len() as u32;
    let all = || (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b]));
    let compared = Compared::new(documents, all());
    let mut table = vec![vec![0.0; count as usize]; count as usize];
    for (&[a, b], &value) in all().collect::<Vec<_>>().iter().zip(&compared.similarity) {
        (table[a as usize][b as usize], table[b as usize][a as usize]) = (value, value);
    }
    let original: Vec<u32> = (0..count).collect();
    let mut deciding = Deciding::new(rank, &original, compared.pairs(), threshold, Memberships::default(), Vec::new());
    assert!(deciding.wanted().is_empty() && deciding.new_leaders().is_empty(), "all pairs are compared");
    let (leader, similarity) = deciding.outcome();
    let mut order = original;
    order.sort_by_key(|&document| rank[document as usize]);
    let mut kept: Vec<u32> = Vec::new();
    for document in order {
        let index = document as usize;
        let value = |other: u32| table[index][other as usize];
        // The first of equal ones.
        let best = kept.iter().copied().filter(|&other| value(other) >= threshold).rev();
        let best = best.max_by(|&a, &b| value(a).total_cmp(&value(b)));
        assert_eq!(
            (leader[index], similarity[index]),
            best.map_or((document, 1.0), |best| (best, value(best))),
            "{document}"
        );
        if best.is_none() {
            kept.push(document);
        }
    }
}

/// Where candidates and large buckets are compared, no kept documents of a candidate pair or of a large bucket are
/// duplicates, and each removed document names a kept one before it.
pub fn check_families(documents: &Documents, rank: &[u32], threshold: f64, original: &[u32], candidates: &Candidates) {
    let pairs = || candidates.pairs.iter().map(|&pair| [(pair >> 32) as u32, pair as u32]);
    let compared = Compared::new(documents, pairs());
    let memberships = Memberships::new(documents.len(), &candidates.large);
    let mut members = candidates.large.members.clone();
    members.sort_unstable();
    members.dedup();
    let families = Families {
        corpus: &documents.corpus,
        weights: Weights(&documents.weights),
        threshold,
        rank,
        large: &candidates.large,
        memberships: &memberships,
    };
    let mut deciding = Deciding::new(rank, original, compared.pairs(), threshold, memberships.clone(), members.clone());
    for round in 0.. {
        assert!(round < ROUNDS, "the decision does not end");
        let wanted = deciding.wanted();
        if !wanted.is_empty() {
            deciding.add(Compared::new(documents, wanted.into_iter()).pairs());
            continue;
        }
        let leaders = deciding.new_leaders();
        if leaders.is_empty() {
            break;
        }
        let actual = families.compare(&leaders);
        assert!(!actual.led.is_empty() || !actual.documents.is_empty(), "a round without progress");
        deciding.add(Pairs { left: &actual.documents, right: &actual.leaders, similarity: &actual.similarity });
        deciding.lead(&actual.led);
    }
    let (leader, similarity) = deciding.outcome();
    let is_kept = |document: u32| leader[document as usize] == document;
    for (document, (&leader, &similarity)) in (0..).zip(leader.iter().zip(&similarity)) {
        if leader == document {
            continue;
        }
        assert!(is_kept(leader), "document {document} names {leader}, which is removed");
        assert!(rank[leader as usize] < rank[document as usize], "{document} is removed for a later one");
        let expected = documents.similarity[document as usize][leader as usize];
        assert!((similarity - expected).abs() < 1e-12 && similarity >= threshold, "{similarity}, {expected}");
    }
    let tied = |a: u32, b: u32| documents.similarity[a as usize][b as usize] >= threshold + 1e-12;
    let both_kept = |[a, b]: [u32; 2]| is_kept(a) && is_kept(b) && tied(a, b);
    assert!(!pairs().any(both_kept), "both documents of a duplicate pair are kept");
    for (index, &a) in members.iter().enumerate() {
        let others = members[index + 1..].iter().filter(|&&b| memberships.share(a, b));
        assert!(!others.into_iter().any(|&b| both_kept([a, b])), "duplicates in a large bucket are both kept");
    }
}

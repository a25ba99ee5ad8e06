//! Families compared by the core equal comparing every document with every leader before it.

use super::*;
use crate::corpus::{FieldKind, Id};
use crate::hash::mix::SplitMix64;

type Document = Vec<Option<Vec<u64>>>;

fn corpus(documents: &[Document]) -> Corpus {
    let fields = documents[0].len();
    let mut corpus = Corpus::new((0..fields).map(|_| FieldKind::Values).collect());
    let mut batch = corpus.batch();
    (0..documents.len()).for_each(|row| batch.id(Some(Id::Integer(row as i64))));
    let rows: Vec<u64> = (1..=documents.len() as u64).collect();
    let columns = (0..fields).map(|field| documents.iter().map(|document| document[field].clone()).collect());
    corpus.add_batch(0, &rows, batch, columns.collect());
    corpus
}

/// The definition: in keep order, each document is compared with each leader before it that shares a bucket.
fn plain(families: &Families<'_>, may_lead: &[u32]) -> (Vec<(u32, u32, f64)>, Vec<u32>) {
    let mut order: Vec<u32> = families.large.members.clone();
    order.sort_by_key(|&document| families.rank[document as usize]);
    order.dedup();
    let (mut found, mut led) = (Vec::new(), Vec::new());
    for document in order {
        let leaders: Vec<u32> =
            led.iter().copied().filter(|&leader| families.memberships.share(leader, document)).collect();
        let documents = vec![document; leaders.len()];
        let values = families.corpus.similarity(&leaders, &documents, &families.weights);
        let similar: Vec<(u32, u32, f64)> = leaders
            .iter()
            .zip(values)
            .filter(|&(_, value)| value >= families.threshold)
            .map(|(&leader, value)| (document, leader, value))
            .collect();
        if similar.is_empty() && may_lead.binary_search(&document).is_ok() {
            led.push(document);
        }
        found.extend(similar);
    }
    found.sort_by_key(|&(document, leader, _)| (document, leader));
    led.sort_unstable();
    (found, led)
}

fn check(documents: &[Document], large: &LargeBuckets, may_lead: &[u32], threshold: f64, random: &mut SplitMix64) {
    let count = documents.len();
    let mut rank: Vec<u32> = (0..count as u32).collect();
    (1..count).for_each(|at| rank.swap(at, random.next_u64() as usize % (at + 1)));
    let corpus = corpus(documents);
    let weights: Vec<f64> = (0..corpus.fields()).map(|field| 1.0 + field as f64 / 3.0).collect();
    let memberships = Memberships::new(count, large);
    let families = Families {
        corpus: &corpus,
        weights: Weights(&weights),
        threshold,
        rank: &rank,
        large,
        memberships: &memberships,
    };
    let (want, want_led) = plain(&families, may_lead);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| families.compare(may_lead));
        let mut pairs: Vec<(u32, u32, f64)> = found
            .documents
            .iter()
            .zip(&found.leaders)
            .zip(&found.similarity)
            .map(|((&document, &leader), &similarity)| (document, leader, similarity))
            .collect();
        pairs.sort_by_key(|&(document, leader, _)| (document, leader));
        let mut led = found.led.clone();
        led.sort_unstable();
        assert_eq!((&pairs, &led), (&want, &want_led), "{count} documents, threshold {threshold}");
    }
}

/// A set like that of a template: some elements are drawn again from `range` numbers.
fn changed(template: &[u64], changes: u64, range: u64, random: &mut SplitMix64) -> Vec<u64> {
    let mut set = template.to_vec();
    for _ in 0..changes {
        let at = random.next_u64() as usize % set.len();
        set[at] = random.next_u64() % range;
    }
    // Sizes differ, so that similar sets of different sizes occur too.
    set.truncate(set.len() - (random.next_u64() % 9).saturating_sub(4) as usize);
    set
}

#[test]
fn comparing_with_candidates_equals_comparing_with_all_leaders() {
    let mut random = SplitMix64::new(77);
    for (case, count) in [3, 30, 90, 200, 500].into_iter().enumerate() {
        for (changes, range) in [(2, u64::MAX), (6, 60), (20, u64::MAX), (9, 40), (25, 300)] {
            let template: Vec<u64> = (0..40).map(|_| random.next_u64() % 10_000).collect();
            let fields = 1 + case % 2;
            let documents: Vec<Document> = (0..count)
                .map(|_| {
                    let mut set = || changed(&template, changes, range, &mut random);
                    (0..fields).map(|field| (set()[0] % 7 > 0 || field == 0).then(&mut set)).collect()
                })
                .collect();
            let mut large = LargeBuckets::default();
            for _ in 0..1 + case % 4 {
                let bucket: Vec<u32> = (0..count as u32).filter(|_| !random.next_u64().is_multiple_of(3)).collect();
                large.push(&bucket);
            }
            let may_lead: Vec<u32> = (0..count as u32).filter(|_| !random.next_u64().is_multiple_of(5)).collect();
            for threshold in [[0.1, 0.8], [0.5, 1.0]][case % 2] {
                check(&documents, &large, &may_lead, threshold, &mut random);
            }
        }
    }
}

#[test]
fn documents_that_may_not_lead_are_only_compared() {
    let documents: Vec<Document> = (0..4).map(|last| vec![Some(vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10 + last])]).collect();
    let mut large = LargeBuckets::default();
    large.push(&[0, 1, 2, 3]);
    let corpus = corpus(&documents);
    let memberships = Memberships::new(4, &large);
    let families = Families {
        corpus: &corpus,
        weights: Weights(&[1.0]),
        threshold: 0.8,
        rank: &[0, 1, 2, 3],
        large: &large,
        memberships: &memberships,
    };
    let found = families.compare(&[2]);
    assert_eq!((found.documents, found.leaders, found.led), (vec![3], vec![2], vec![2]));
    assert_eq!(families.compare(&[]), FamilyPairs::default());
}

#[test]
fn empty_and_missing_fields_are_similar_to_nothing() {
    let documents = vec![
        vec![Some(vec![]), Some(vec![1, 2])],
        vec![None, Some(vec![1, 2])],
        vec![Some(vec![]), Some(vec![])],
        vec![Some(vec![5]), None],
    ];
    let mut large = LargeBuckets::default();
    large.push(&[0, 1, 2, 3]);
    check(&documents, &large, &[0, 1, 2, 3], 0.5, &mut SplitMix64::new(1));
}

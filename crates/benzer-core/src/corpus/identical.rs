//! Identical documents: those with the same shingles, each with the same count, in every field.
//!
//! Documents are grouped by the sums over their shingle hashes ([`crate::minhash::Content`]), which cost nothing but
//! can be forged. So each document of a group is compared with the representative of the group: by its bytes, and if
//! these differ, by its shingle hashes. Documents that differ are grouped again by a digest that cannot be forged.

use super::compare::Lists;
use super::{Column, Corpus, ESCAPED};
use crate::buckets::representatives;
use crate::hash::blake2b::Blake2b;
use crate::jaccard::sort;
use crate::watch;
use rayon::prelude::*;

/// Documents whose bytes are compared by one thread at a time.
const CHUNK: usize = 1024;

/// Documents whose shingles are made by one thread at a time.
const FEW: usize = 64;

/// The number of shingles in the digest for a field that a document lacks.
const MISSING: u64 = u64::MAX;

/// A document and the one that represents it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Copy {
    representative: u32,
    document: u32,
}

/// Buffers of one thread.
#[derive(Default)]
struct Scratch {
    lists: Lists,
    /// For each field the document whose shingle hashes are stored, and the hashes.
    held: Vec<(Option<u32>, Vec<u64>)>,
    sorted: [Vec<u64>; 2],
    spare: Vec<u64>,
}

impl Corpus {
    /// The representative of each document: the one of lowest rank among those identical to it, the first of equal
    /// ranks.
    ///
    /// `content` is that of [`Corpus::sketch`]; documents without a shingle (`empty`) represent themselves. Takes 12
    /// bytes per document in addition to the result, and 16 for each that repeats another; linear time. Reads each
    /// document that repeats another once more, and its representative with it.
    ///
    /// # Panics
    /// If `content`, `empty` or `rank` does not have one entry for each document.
    pub fn identical(&self, content: &[[u64; 2]], empty: &[bool], rank: &[u32]) -> Vec<u32> {
        let count = self.len();
        assert_eq!([content.len(), empty.len(), rank.len()], [count; 3], "one entry for each document");
        let mut found = representatives(content, empty, rank);
        let differing = self.differing(&found);
        self.regroup(differing, rank, &mut found);
        found
    }

    /// A digest of the shingles of each of some documents: 128 bits of BLAKE2b over the sorted hashes of each field.
    ///
    /// Identical documents have equal digests. Constructing a different document for a given digest takes about 2^128
    /// steps, and two documents with equal digests 2^64, unless shingles themselves have the same hash.
    pub fn identities(&self, positions: &[u32]) -> Vec<[u64; 2]> {
        positions
            .par_chunks(FEW)
            .flat_map_iter(|part| {
                let mut scratch = Scratch::default();
                part.iter().map(move |&position| self.identity(position, &mut scratch))
            })
            .collect()
    }

    /// The documents that differ from the one that represents them.
    fn differing(&self, representatives: &[u32]) -> Vec<Copy> {
        let copies = |start: usize| {
            let part = &representatives[start..(start + CHUNK).min(representatives.len())];
            let copy =
                move |(at, &representative): (usize, &u32)| Copy { representative, document: (start + at) as u32 };
            part.iter().enumerate().map(copy).filter(|copy| copy.representative != copy.document)
        };
        let starts: Vec<usize> = (0..representatives.len()).step_by(CHUNK).collect();
        // Exact copies are by far the most, and cost no more than reading their bytes.
        let others = starts.into_par_iter().flat_map_iter(|start| copies(start).filter(|copy| !self.same_bytes(copy)));
        let mut others: Vec<Copy> = others.collect();
        others.par_sort_unstable();
        let parts = others.par_chunks(FEW);
        parts
            .flat_map_iter(|part| {
                let mut scratch = Scratch::default();
                part.iter().filter(move |copy| !self.same_shingles(copy, &mut scratch)).copied()
            })
            .collect()
    }

    /// Groups documents that differ from the one that represented them, those of one group apart from all others.
    fn regroup(&self, differing: Vec<Copy>, rank: &[u32], found: &mut [u32]) {
        let documents: Vec<u32> = differing.iter().map(|copy| copy.document).collect();
        let identities = self.identities(&documents);
        let keyed = differing.iter().zip(identities);
        let mut keyed: Vec<_> = keyed
            .map(|(copy, identity)| ((copy.representative, identity), rank[copy.document as usize], copy.document))
            .collect();
        keyed.par_sort_unstable();
        for group in keyed.chunk_by(|one, other| one.0 == other.0) {
            let best = group[0].2;
            group.iter().for_each(|&(_, _, document)| found[document as usize] = best);
        }
    }

    /// Whether two documents have the same bytes in every field.
    fn same_bytes(&self, copy: &Copy) -> bool {
        watch::look();
        (0..self.fields()).all(|field| self.same_field_bytes(field, copy))
    }

    #[inline(always)]
    fn same_field_bytes(&self, field: usize, copy: &Copy) -> bool {
        let [a, b] = [copy.representative as usize, copy.document as usize];
        match &self.columns[field] {
            Column::Text { spans, .. } => {
                let [a, b] = [spans[a], spans[b]];
                let alike = a.len() == b.len() && (a.flags() ^ b.flags()) & ESCAPED == 0;
                alike
                    && a.is_missing() == b.is_missing()
                    && (a.is_missing() || self.raw(a).bytes(&mut Vec::new()) == self.raw(b).bytes(&mut Vec::new()))
            }
            Column::Values { ends, hashes, missing } => {
                let set = |at: usize| &hashes[ends[at] as usize..ends[at + 1] as usize];
                missing[a] == missing[b] && set(a) == set(b)
            }
        }
    }

    /// Whether two documents have the same shingle hashes, each as often, in every field.
    fn same_shingles(&self, copy: &Copy, scratch: &mut Scratch) -> bool {
        let Scratch { lists, held, sorted, spare } = scratch;
        held.resize_with(self.fields(), Default::default);
        held.iter_mut().enumerate().all(|(field, (of, own))| {
            if self.same_field_bytes(field, copy) {
                return true;
            }
            if self.is_missing(field, copy.representative) != self.is_missing(field, copy.document) {
                return false;
            }
            if *of != Some(copy.representative) {
                own.clear();
                self.each_list(field, &[copy.representative], lists, |hashes| own.extend_from_slice(hashes));
                *of = Some(copy.representative);
            }
            let mut same = false;
            self.each_list(field, &[copy.document], lists, |hashes| same = same_multiset(own, hashes, sorted, spare));
            same
        })
    }

    fn identity(&self, position: u32, scratch: &mut Scratch) -> [u64; 2] {
        let Scratch { lists, sorted: [sorted, _], spare, .. } = scratch;
        let mut digest = Blake2b::default();
        for field in 0..self.fields() {
            if self.is_missing(field, position) {
                digest.update(&[MISSING]);
                continue;
            }
            self.each_list(field, &[position], lists, |hashes| {
                sort_copy(hashes, sorted, spare);
                digest.update(&[sorted.len() as u64]);
                digest.update(sorted);
            });
        }
        digest.finish()
    }
}

/// Whether two lists hold the same numbers, each as often.
fn same_multiset(a: &[u64], b: &[u64], [sorted_a, sorted_b]: &mut [Vec<u64>; 2], spare: &mut Vec<u64>) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a == b {
        return true;
    }
    sort_copy(a, sorted_a, spare);
    sort_copy(b, sorted_b, spare);
    sorted_a == sorted_b
}

fn sort_copy(numbers: &[u64], sorted: &mut Vec<u64>, spare: &mut Vec<u64>) {
    sorted.clear();
    sorted.extend_from_slice(numbers);
    sort(sorted, spare);
}

#[cfg(test)]
mod tests {
    use super::super::{FieldKind, Id};
    use super::*;
    use crate::hash::mix::SplitMix64;
    use crate::text::{Reader, Recipe};
    use std::collections::HashMap;

    /// A text and a set of hashes of each document; none where it lacks the field.
    type Document<'a> = (Option<&'a str>, Option<Vec<u64>>);

    fn corpus(documents: &[Document<'_>]) -> Corpus {
        let recipe = Recipe { shingle_size: 1, ..Recipe::PLAIN };
        let mut corpus = Corpus::new(vec![FieldKind::Text(Reader::new(recipe, &[])), FieldKind::Values]);
        let mut batch = corpus.batch();
        for (text, _) in documents {
            batch.id(Some(Id::Integer(1)));
            batch.text(0, *text);
        }
        let rows: Vec<u64> = (1..=documents.len() as u64).collect();
        corpus.add_batch(0, &rows, batch, vec![documents.iter().map(|(_, set)| set.clone()).collect()]);
        corpus
    }

    fn first_of_equals<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>, rank: &[u32]) -> Vec<u32> {
        let keys: Vec<K> = keys.collect();
        let mut best: HashMap<&K, (u32, u32)> = HashMap::new();
        for (at, key) in keys.iter().enumerate() {
            let own = (rank[at], at as u32);
            best.entry(key).and_modify(|best| *best = own.min(*best)).or_insert(own);
        }
        keys.iter().map(|key| best[key].1).collect()
    }

    /// As if an attacker had made all sums equal: the content hash tells nothing, or a little.
    #[test]
    fn forged_content_hashes_do_not_make_documents_identical() {
        let mut random = SplitMix64::new(8);
        let texts = ["to be", "be to", "To  be!", "to be to", "be or not", "or", "", "not be or", "to\u{e9}"];
        let sets = [vec![], vec![1, 2], vec![1, 3], vec![9]];
        let mut pick = |count: usize| random.next_u64() as usize % count;
        let documents: Vec<Document<'_>> = (0..4000)
            .map(|_| {
                let text = (pick(9) > 0).then(|| texts[pick(texts.len())]);
                let set = (pick(5) > 0).then(|| sets[pick(sets.len())].clone());
                (text, set)
            })
            .collect();
        let made = corpus(&documents);
        let meaning = |(text, set): &Document<'_>| {
            let mut words = text.map(|text| {
                let lower = text.to_lowercase().replace('!', "");
                lower.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
            });
            words.iter_mut().for_each(|words| words.sort());
            (words, set.clone())
        };
        let rank: Vec<u32> = (0..documents.len()).map(|_| pick(500) as u32).collect();
        let want = first_of_equals(documents.iter().map(meaning), &rank);
        for spread in [1, 3] {
            // Identical documents have equal hashes; those of others are equal by forgery.
            let content: Vec<[u64; 2]> = want.iter().map(|&one| [u64::from(one) % spread, 7]).collect();
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let empty = vec![false; documents.len()];
                assert_eq!(pool.install(|| made.identical(&content, &empty, &rank)), want, "{spread} hashes");
            }
        }
        let everyone: Vec<u32> = (0..documents.len() as u32).collect();
        let identities = made.identities(&everyone);
        assert_eq!(first_of_equals(identities.iter(), &rank), want);
    }

    #[test]
    fn escaped_and_plain_texts_of_the_same_words_are_identical() {
        let recipe = Recipe { shingle_size: 1, ..Recipe::PLAIN };
        let mut found = Corpus::new(vec![FieldKind::Text(Reader::new(recipe, &[]))]);
        let columns =
            super::super::JsonlColumns { fields: &["text".to_owned()], id: None, id_required: false, extra: None };
        let data = b"{\"text\": \"caf\xc3\xa9\"}\n{\"text\": \"caf\\u00e9\"}\n{\"text\": \"caf\\\\u00e9\"}\n";
        found.add_jsonl_data(0, data.to_vec(), &columns, 1);
        // The bytes of the last are those of the second in the file, but they mean the text of the third.
        let mut batch = found.batch();
        batch.id(None);
        batch.text(0, Some("caf\\u00e9"));
        found.add_batch(0, &[4], batch, Vec::new());
        assert_eq!(found.identical(&[[1, 1]; 4], &[false; 4], &[1, 0, 2, 3]), [1, 1, 2, 2]);
    }

    #[test]
    fn documents_without_a_shingle_represent_themselves() {
        let made = corpus(&[(Some(""), None), (Some(""), None), (Some("a"), None), (Some("a"), None)]);
        assert_eq!(made.identical(&[[1, 1]; 4], &[true, true, false, false], &[3, 2, 1, 0]), [0, 1, 3, 3]);
    }

    #[test]
    fn the_digest_separates_fields_and_missing_from_empty() {
        let made = corpus(&[
            (Some(""), None),
            (None, Some(vec![])),
            (None, None),
            (Some(""), Some(vec![])),
            (None, Some(vec![0])),
            (None, Some(vec![0, 0])),
            (Some("a"), None),
        ]);
        let identities = made.identities(&[0, 1, 2, 3, 4, 5, 6]);
        let distinct: std::collections::HashSet<_> = identities.iter().collect();
        assert_eq!(distinct.len(), identities.len());
    }
}

//! A number of 128 bits for all documents in their order, to detect whether the documents have changed.

use super::{Column, Corpus, Span};
use crate::hash::mix::{K1, K2, K3, K4, finish, mum};
use crate::hash::shingle::token_hash;
use crate::watch;
use rayon::prelude::*;

/// The hash of an absent part, which differs from that of an empty one.
const NOTHING: u64 = K4;

impl Corpus {
    /// A hash of all documents in their order: ids, sources, rows, contents and extra values, byte for byte.
    ///
    /// Equal corpora have equal digests for any number of threads; it reads every byte once, and takes 8 bytes per
    /// document.
    pub fn digest(&self) -> [u64; 2] {
        let each: Vec<u64> = (0..self.len()).into_par_iter().with_min_len(64).map(|at| self.digest_of(at)).collect();
        // generated ids contain the names of sources
        let names = self.names.iter().fold(K3, |h, name| mum(h ^ token_hash(name.as_bytes()), K2).wrapping_add(K1));
        let start = [K1 ^ each.len() as u64, names];
        each.iter().fold(start, |[a, b], &one| [mum(a ^ one, K2), finish(b.wrapping_add(one))])
    }

    /// A hash of all data of one document.
    fn digest_of(&self, position: usize) -> u64 {
        watch::look();
        let (source, row) = self.places.get(position);
        let place = mum(u64::from(source) ^ K1, row ^ K3);
        let id = self.span_digest(self.ids.get(position));
        let extra = self.span_digest(self.extras.get(position));
        let fields = self.columns.iter().map(|column| match column {
            Column::Text { spans, .. } => self.span_digest(spans[position]),
            Column::Values { missing, .. } if missing[position] => NOTHING,
            Column::Values { ends, hashes, .. } => {
                let set = &hashes[ends[position] as usize..ends[position + 1] as usize];
                set.iter().fold(set.len() as u64, |h, &hash| mum(h ^ hash, K2).wrapping_add(K3))
            }
        });
        [id, extra].into_iter().chain(fields).fold(place, |h, part| mum(h ^ part, K2).wrapping_add(K1))
    }

    /// A hash of the bytes of a span, and of how they are to be read.
    fn span_digest(&self, span: Span) -> u64 {
        if span.is_missing() {
            return NOTHING;
        }
        mum(token_hash(self.raw(span).bytes(&mut Vec::new())) ^ u64::from(span.flags()), K4)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FieldKind, Id};
    use super::*;

    type Documents<'a> = [(&'a str, Option<&'a [u64]>)];

    fn corpus(documents: &Documents<'_>) -> Corpus {
        let mut corpus = Corpus::new(vec![FieldKind::Values]);
        let mut batch = corpus.batch();
        let rows: Vec<u64> = (1..=documents.len() as u64).collect();
        documents.iter().for_each(|(id, _)| batch.id(Some(Id::Text((*id).to_owned()))));
        let sets = documents.iter().map(|(_, set)| set.map(<[u64]>::to_vec)).collect();
        corpus.add_batch(0, &rows, batch, vec![sets]);
        corpus
    }

    #[test]
    fn the_digest_knows_equal_documents_and_every_change() {
        let plain: &Documents<'_> = &[("a", Some(&[1, 2])), ("b", Some(&[3])), ("c", None)];
        let want = corpus(plain).digest();
        assert_eq!(corpus(plain).digest(), want);
        let others: &[&Documents<'_>] = &[
            &[("a", Some(&[1, 2])), ("b", Some(&[3]))],
            &[("b", Some(&[3])), ("a", Some(&[1, 2])), ("c", None)],
            &[("a", Some(&[1, 2])), ("b", Some(&[3])), ("c", Some(&[]))],
            &[("a", Some(&[1])), ("b", Some(&[2, 3])), ("c", None)],
            &[("a", Some(&[1, 2])), ("x", Some(&[3])), ("c", None)],
            &[],
        ];
        assert!(others.iter().all(|other| corpus(other).digest() != want));
    }
}

//! Ids of documents, and the detection of repeated ids.

use super::{Corpus, ESCAPED, INTEGER, Id, RawScratch};
use crate::hash::shingle::token_hash;
use crate::watch;
use rayon::prelude::*;
use std::collections::HashMap;

impl Id {
    /// The hash that an id of this text has wherever it comes from.
    fn hashed(&self) -> u64 {
        match self {
            Id::Text(text) => token_hash(text.as_bytes()),
            Id::Integer(number) => u64::from(INTEGER) ^ token_hash(number.to_string().as_bytes()),
        }
    }
}

impl Corpus {
    /// The id at a position: as given, or made from the source's name and the row.
    pub fn id(&self, position: usize) -> Id {
        let span = self.ids.get(position);
        if span.is_missing() {
            let (source, row) = self.places.get(position);
            let name = self.names.get(source as usize).map_or("", String::as_str);
            return Id::Text(format!("{name}:{row}"));
        }
        let text = self.raw(span).text(span, &mut RawScratch::default()).to_owned();
        match text.parse() {
            Ok(number) if span.flags() & INTEGER != 0 => Id::Integer(number),
            _ => Id::Text(text),
        }
    }

    /// Two positions with the same id, if there are any: the lowest second position that repeats an earlier one.
    ///
    /// Half of each hash is sorted together with the position, in 8 bytes per document; only where halves are equal
    /// are the ids hashed once more.
    pub fn duplicate_id(&self) -> Option<(usize, usize)> {
        if self.ids.is_empty() && self.made_ids_differ() {
            return None;
        }
        let all = 0..self.len() as u64;
        let half = |copy: &mut Vec<u8>, i: u64| self.id_hash(i as usize, copy) >> 32 << 32 | i;
        let mut halves: Vec<u64> = all.into_par_iter().map_init(Vec::new, half).collect();
        halves.par_sort_unstable();
        let alike = halves.chunk_by(|a, b| a >> 32 == b >> 32).filter(|alike| alike.len() > 1).flatten();
        let (positions, mut copy) = (alike.map(|&one| one as u32 as usize), Vec::new());
        let mut hashed: Vec<(u64, usize)> = positions.map(|at| (self.id_hash(at, &mut copy), at)).collect();
        drop(halves);
        hashed.par_sort_unstable();
        let same = hashed.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let pairs = same.map(|pair| (pair[0].1, pair[1].1));
        pairs.filter(|&(a, b)| self.id(a) == self.id(b)).min_by_key(|&(_, second)| second)
    }

    fn id_hash(&self, position: usize, copy: &mut Vec<u8>) -> u64 {
        watch::look();
        let span = self.ids.get(position);
        if span.is_missing() || span.flags() & ESCAPED != 0 {
            return self.id(position).hashed();
        }
        match self.raw(span).bytes(copy) {
            // The one integer of JSON that is written in two ways.
            b"-0" if span.flags() & INTEGER != 0 => Id::Integer(0).hashed(),
            raw if span.flags() & INTEGER != 0 => u64::from(INTEGER) ^ token_hash(raw),
            raw => token_hash(raw),
        }
    }

    /// Whether ids that are all made cannot repeat: the rows of each name ascend.
    fn made_ids_differ(&self) -> bool {
        let mut next: HashMap<&str, u64> = HashMap::new();
        self.places.each().all(|run| {
            let name = self.names.get(run.source as usize).map_or("", String::as_str);
            let before = next.insert(name, run.row + u64::from(run.len));
            before.is_none_or(|before| before <= run.row)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::FieldKind;
    use super::*;

    fn corpus(sources: &[(&str, &[u64])], ids: &[Option<Id>]) -> Corpus {
        let mut corpus = Corpus::new(vec![FieldKind::Values]);
        let mut ids = ids.iter().cloned().chain(std::iter::repeat(None));
        for (number, (name, rows)) in sources.iter().enumerate() {
            corpus.name_source(number as u32, name);
            let mut batch = corpus.batch();
            rows.iter().for_each(|_| batch.id(ids.next().flatten()));
            corpus.add_batch(number as u32, rows, batch, vec![vec![None; rows.len()]]);
        }
        corpus
    }

    #[test]
    fn made_ids_repeat_where_a_name_and_a_row_do() {
        let found = |sources: &[(&str, &[u64])]| corpus(sources, &[]).duplicate_id();
        assert_eq!(found(&[("a", &[1, 2, 4]), ("b", &[1, 2]), ("a", &[5])]), None);
        assert_eq!(found(&[("a", &[1, 2, 4]), ("b", &[1]), ("a", &[2, 3])]), Some((1, 4)));
        assert_eq!(found(&[("a", &[3, 1]), ("a", &[2])]), None);
    }

    #[test]
    fn a_given_id_repeats_a_made_one() {
        let ids = [Some(Id::Text("x".into())), Some(Id::Integer(7)), Some(Id::Text("7".into()))];
        assert_eq!(corpus(&[("a", &[1, 2, 3, 4])], &ids).duplicate_id(), None);
        let ids = [Some(Id::Text("a:3".into())), Some(Id::Integer(7)), None, Some(Id::Integer(7))];
        assert_eq!(corpus(&[("a", &[1, 2, 3, 4])], &ids).duplicate_id(), Some((0, 2)));
    }

    #[test]
    fn many_ids_of_which_two_pairs_repeat() {
        let ids: Vec<Option<Id>> = (0..30_000).map(|at| Some(Id::Integer(if at == 20_000 { 9 } else { at }))).collect();
        let rows: Vec<u64> = (1..=30_000).collect();
        assert_eq!(corpus(&[("a", &rows)], &ids).duplicate_id(), Some((9, 20_000)));
    }
}

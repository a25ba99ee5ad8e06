//! Ids of documents, and the detection of repeated ids.

use super::held::{Places, Span, Sparse, retain};
use super::{Buffer, Column, Corpus, ESCAPED, INTEGER, Id, RawScratch};
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

    /// The documents that repeat the id of an earlier one, in their order: the position of the first document with
    /// that id, and the own position.
    ///
    /// Half of each hash is sorted together with the position, in 8 bytes per document; only where halves are equal
    /// are the ids hashed once more.
    pub fn repeated_ids(&self) -> Vec<(usize, usize)> {
        if self.ids.is_empty() && self.made_ids_differ() {
            return Vec::new();
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
        let mut repeated = Vec::new();
        for same in hashed.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            let mut firsts: HashMap<Id, usize> = HashMap::new();
            for &(_, position) in same {
                let first = *firsts.entry(self.id(position)).or_insert(position);
                if first != position {
                    repeated.push((first, position));
                }
            }
        }
        repeated.sort_unstable_by_key(|&(_, position)| position);
        repeated
    }

    /// Replaces the ids of some documents by made ones.
    pub fn make_ids(&mut self, positions: &[u32]) {
        positions.iter().for_each(|&position| self.ids.clear(position as usize));
    }

    /// Puts the name of its source and a colon before each id that was given.
    pub fn scope_ids(&mut self) {
        let (start, mut bytes) = (self.next_start(), Vec::new());
        let scoped = |position: usize| {
            if self.ids.get(position).is_missing() {
                return Span::MISSING;
            }
            let name = self.names.get(self.places.get(position).0 as usize).map_or("", String::as_str);
            let id = match self.id(position) {
                Id::Text(text) => format!("{name}:{text}"),
                Id::Integer(number) => format!("{name}:{number}"),
            };
            let first = start + bytes.len() as u64;
            bytes.extend_from_slice(id.as_bytes());
            Span::new(first, id.len() as u32, 0)
        };
        let spans: Vec<Span> = (0..self.len()).map(scoped).collect();
        self.ids = Sparse::default();
        self.ids.append(0, &spans);
        self.keep(Buffer::Owned(bytes));
    }

    /// Removes the documents at ascending positions. Their bytes stay in memory, and sketches that were made while the
    /// documents were read are made again.
    pub fn remove(&mut self, positions: &[u32]) {
        let mut stays = vec![true; self.len()];
        positions.iter().for_each(|&position| stays[position as usize] = false);
        for column in &mut self.columns {
            match column {
                Column::Text { spans, .. } => retain(spans, &stays),
                Column::Values { ends, hashes, missing } => {
                    let sets = std::mem::take(hashes);
                    let old = std::mem::replace(ends, vec![0]);
                    for (bounds, _) in old.windows(2).zip(&stays).filter(|(_, stays)| **stays) {
                        hashes.extend_from_slice(&sets[bounds[0] as usize..bounds[1] as usize]);
                        ends.push(hashes.len() as u64);
                    }
                    retain(missing, &stays);
                }
            }
        }
        self.ids.retain(&stays);
        self.extras.retain(&stays);
        let mut places = Places::default();
        let all: Vec<(u32, u64)> = self.sources().zip(self.rows()).collect();
        all.iter().zip(&stays).filter(|(_, stays)| **stays).for_each(|(&(source, row), _)| places.push(source, row));
        self.places = places;
        self.ahead = None;
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
        let found = |sources: &[(&str, &[u64])]| corpus(sources, &[]).repeated_ids();
        assert_eq!(found(&[("a", &[1, 2, 4]), ("b", &[1, 2]), ("a", &[5])]), []);
        assert_eq!(found(&[("a", &[1, 2, 4]), ("b", &[1]), ("a", &[2, 3])]), [(1, 4)]);
        assert_eq!(found(&[("a", &[3, 1]), ("a", &[2])]), []);
    }

    #[test]
    fn a_given_id_repeats_a_made_one() {
        let ids = [Some(Id::Text("x".into())), Some(Id::Integer(7)), Some(Id::Text("7".into()))];
        assert_eq!(corpus(&[("a", &[1, 2, 3, 4])], &ids).repeated_ids(), []);
        let ids = [Some(Id::Text("a:3".into())), Some(Id::Integer(7)), None, Some(Id::Integer(7))];
        assert_eq!(corpus(&[("a", &[1, 2, 3, 4])], &ids).repeated_ids(), [(0, 2), (1, 3)]);
    }

    #[test]
    fn many_ids_of_which_two_pairs_repeat() {
        let ids: Vec<Option<Id>> = (0..30_000).map(|at| Some(Id::Integer(if at == 20_000 { 9 } else { at }))).collect();
        let rows: Vec<u64> = (1..=30_000).collect();
        assert_eq!(corpus(&[("a", &rows)], &ids).repeated_ids(), [(9, 20_000)]);
    }

    #[test]
    fn repeated_ids_are_numbered_scoped_or_removed() {
        let ids = || ["x", "x", "y", "x"].map(|id| Some(Id::Text(id.into())));
        let names = |corpus: &Corpus| -> Vec<Id> { (0..corpus.len()).map(|at| corpus.id(at)).collect() };
        let texts = |ids: &[&str]| -> Vec<Id> { ids.iter().map(|&id| Id::Text(id.into())).collect() };
        let sources: [(&str, &[u64]); 2] = [("a", &[1, 2]), ("b", &[1, 5])];
        let mut numbered = corpus(&sources, &ids());
        assert_eq!(numbered.repeated_ids(), [(0, 1), (0, 3)]);
        numbered.make_ids(&[1, 3]);
        assert_eq!(names(&numbered), texts(&["x", "a:2", "y", "b:5"]));
        let mut scoped = corpus(&sources, &ids());
        scoped.scope_ids();
        assert_eq!(names(&scoped), texts(&["a:x", "a:x", "b:y", "b:x"]));
        let mut removed = corpus(&sources, &ids());
        removed.remove(&[1, 3]);
        assert_eq!(names(&removed), texts(&["x", "y"]));
        assert_eq!(removed.rows().collect::<Vec<_>>(), [1, 1]);
        assert_eq!(removed.sources().collect::<Vec<_>>(), [0, 1]);
    }
}

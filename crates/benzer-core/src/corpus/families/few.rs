//! Few leaders: documents are compared with tables of all of them while they are read.

use super::Families;
use super::table::{Stamps, Table};
use crate::corpus::compare::{Lists, Mean};

/// The sets of some leaders as tables.
pub struct Few {
    /// The number of the first leader.
    start: u32,
    /// The position of each leader.
    positions: Vec<u32>,
    /// The tables of each field, and the sizes of the sets.
    fields: Vec<Vec<(Table, usize)>>,
}

impl Few {
    /// No leaders yet; the first will have this number.
    pub fn new(start: u32, fields: usize) -> Few {
        Few { start, positions: Vec::new(), fields: (0..fields).map(|_| Vec::new()).collect() }
    }

    /// Adds the next leader.
    pub fn push(&mut self, position: u32, sets: &[Vec<u64>]) {
        self.positions.push(position);
        for (field, set) in self.fields.iter_mut().zip(sets) {
            let mut table = Table::default();
            table.hold(set);
            field.push((table, set.len()));
        }
    }

    /// The leaders of each document that are similar to it, by their numbers, among `pairs`: rows of documents in
    /// ascending order, and numbers of leaders.
    pub fn compare(&self, join: &Families<'_>, documents: &[u32], pairs: &[(usize, u32)]) -> Vec<Vec<(u32, f64)>> {
        let mut means: Vec<Mean> = pairs.iter().map(|_| Mean::default()).collect();
        let mut stamps: Vec<Stamps> = self.positions.iter().map(|_| Stamps::default()).collect();
        let (mut others, mut distinct, mut table) = (Vec::new(), Vec::new(), Table::default());
        for (field, leaders) in self.fields.iter().enumerate() {
            let (mut row, mut next) = (0, 0);
            join.corpus.each_list(field, documents, &mut Lists::default(), |hashes| {
                let mut own = None;
                while next < pairs.len() && pairs[next].0 == row {
                    let leader = (pairs[next].1 - self.start) as usize;
                    let (of_leader, size) = &leaders[leader];
                    others.clear();
                    let shared = of_leader.count(hashes, &mut stamps[leader], &mut others);
                    // The elements that the first leader lacks are few in a family of near-copies.
                    let own = *own.get_or_insert_with(|| {
                        distinct.clear();
                        table.fill(&others, &mut distinct);
                        shared + distinct.len()
                    });
                    let positions = [documents[row], self.positions[leader]];
                    join.add(&mut means[next], field, positions, [own, *size], || shared);
                    next += 1;
                }
                row += 1;
            });
        }
        let mut matches = vec![Vec::new(); documents.len()];
        for (&(row, leader), mean) in pairs.iter().zip(&means) {
            if let Some(value) = mean.value().filter(|&value| value >= join.threshold) {
                matches[row].push((leader, value));
            }
        }
        matches
    }
}

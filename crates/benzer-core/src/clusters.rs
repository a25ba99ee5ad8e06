//! Which documents are kept, and which kept document each removed one is a duplicate of.
//!
//! Documents are decided in keep order. One is removed only if a pair verified at the threshold ties it to a document
//! that is kept; so there is no removal through a chain of similarities.

use crate::buckets::Memberships;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// Pairs and their exact similarity.
#[derive(Clone, Copy)]
pub struct Pairs<'a> {
    /// Positions.
    pub left: &'a [u32],
    /// Positions.
    pub right: &'a [u32],
    /// Exact similarity of each pair.
    pub similarity: &'a [f64],
}

impl Pairs<'_> {
    /// Each pair with its similarity.
    fn iter(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        self.left.iter().zip(self.right).zip(self.similarity).map(|((&a, &b), &similarity)| (a, b, similarity))
    }
}

/// No document, or the end of a list.
const NONE: u32 = u32::MAX;

/// A tie to another document that was added later, and the next one of the same document.
struct Added {
    other: u32,
    next: u32,
    similarity: f64,
}

/// Ties of each document to others at the threshold.
struct Graph {
    /// Those of the given pairs: `links[starts[i]..starts[i + 1]]` are (other, similarity).
    starts: Vec<usize>,
    links: Vec<(u32, f64)>,
    /// The last one added to each document, and all that were added; empty if none was.
    last: Vec<u32>,
    added: Vec<Added>,
}

impl Graph {
    fn new(count: usize, pairs: Pairs<'_>, threshold: f64) -> Graph {
        let edges = || pairs.iter().filter(|&(_, _, similarity)| similarity >= threshold);
        // While links are put in, entry `i + 1` says where the next of document `i` goes; at the end that is where those
        // of `i + 1` start.
        let mut starts = vec![0usize; count + 2];
        for (a, b, _) in edges() {
            starts[a as usize + 2] += 1;
            starts[b as usize + 2] += 1;
        }
        for i in 1..=count {
            starts[i + 1] += starts[i];
        }
        let mut links = vec![(0, 0.0); starts[count + 1]];
        for (a, b, similarity) in edges() {
            for (from, to) in [(a, b), (b, a)] {
                let next = &mut starts[from as usize + 1];
                links[*next] = (to, similarity);
                *next += 1;
            }
        }
        Graph { starts, links, last: Vec::new(), added: Vec::new() }
    }

    fn add(&mut self, a: u32, b: u32, similarity: f64) {
        if self.last.is_empty() {
            self.last.resize(self.starts.len() - 2, NONE);
        }
        for (from, other) in [(a, b), (b, a)] {
            let last = &mut self.last[from as usize];
            self.added.push(Added { other, next: *last, similarity });
            *last = (self.added.len() - 1) as u32;
        }
    }

    /// The ties of a document.
    fn of(&self, document: u32) -> impl Iterator<Item = (u32, f64)> {
        let given = self.links[self.starts[document as usize]..self.starts[document as usize + 1]].iter().copied();
        let mut at = self.last.get(document as usize).copied().unwrap_or(NONE);
        let added = std::iter::from_fn(move || {
            let one = self.added.get(at as usize)?;
            at = one.next;
            Some((one.other, one.similarity))
        });
        given.chain(added)
    }
}

/// A decision that is being made: pairs are added until none is wanted any more.
///
/// In keep order, each document is kept unless it is tied to one that is kept already. Then each removed document is
/// given the most similar of the kept ones that come before it (of equal ones the first). A document that is kept
/// although it is tied to a removed one is compared with the kept one of that: such pairs are wanted ([`Self::wanted`]).
/// Documents of large buckets are compared with the kept ones among them, which the caller does for the kept documents
/// that no other has been compared with yet ([`Self::new_leaders`]).
///
/// When pairs are added, only the documents that they affect are decided again. The result is the same as deciding all
/// of them again: it depends on the pairs, not on the order in which they were added.
pub struct Deciding {
    /// The place of each document in the keep order, and the document at each place.
    rank: Vec<u32>,
    order: Vec<u32>,
    /// The document of least rank with the same content, which alone is in pairs.
    original: Vec<u32>,
    threshold: f64,
    graph: Graph,
    memberships: Memberships,
    /// Pairs below the threshold that have been compared: those given (ascending) and those added.
    given_below: Vec<u64>,
    below: HashSet<u64>,
    kept: Vec<bool>,
    /// The kept document of each original, and the similarity to it.
    leader: Vec<u32>,
    similarity: Vec<f64>,
    /// Documents of large buckets with which the others have been compared.
    led: Vec<bool>,
    /// Documents of large buckets, ascending.
    members: Vec<u32>,
    /// Documents whose outcome or ties have changed since pairs were wanted last.
    changed: Vec<u32>,
}

impl Deciding {
    /// Starts with some pairs. `rank` gives the place of each document in the keep order; `original` the document of
    /// lower rank that has the same content and whose pairs are those of both (itself for most). Pairs below the
    /// threshold only tell that they have been compared. `members` are the documents of large buckets, ascending.
    pub fn new(
        rank: &[u32], original: &[u32], pairs: Pairs<'_>, threshold: f64, memberships: Memberships, members: Vec<u32>,
    ) -> Deciding {
        let count = rank.len();
        let mut order = vec![0; count];
        rank.iter().zip(0..).for_each(|(&place, document)| order[place as usize] = document);
        let graph = Graph::new(count, pairs, threshold);
        let tied = |document: u32| graph.starts[document as usize] < graph.starts[document as usize + 1];
        let below = pairs.iter().filter(|&(a, b, similarity)| similarity < threshold && tied(a) && tied(b));
        let mut given_below: Vec<u64> = below.map(|(a, b, _)| pack(a, b)).collect();
        given_below.sort_unstable();
        let with_ties: Vec<u32> = (0..count as u32).filter(|&document| tied(document)).collect();
        let mut deciding = Deciding {
            rank: rank.to_vec(),
            original: original.to_vec(),
            threshold,
            memberships,
            given_below,
            below: HashSet::new(),
            kept: vec![false; count],
            leader: (0..count as u32).collect(),
            similarity: vec![1.0; count],
            led: vec![false; if members.is_empty() { 0 } else { count }],
            members,
            changed: Vec::new(),
            graph,
            order: Vec::new(),
        };
        for &document in &order {
            deciding.kept[document as usize] = deciding.is_kept(document);
        }
        for &document in &order {
            deciding.choose_leader(document);
        }
        deciding.order = order;
        // Each pair that is wanted now has a kept document with ties.
        deciding.changed = with_ties.into_iter().filter(|&document| deciding.kept[document as usize]).collect();
        deciding
    }

    /// Whether a document is kept, if all that come before it are decided.
    fn is_kept(&self, document: u32) -> bool {
        let before = self.rank[document as usize];
        let tied = |(other, _): (u32, f64)| self.rank[other as usize] < before && self.kept[other as usize];
        self.original[document as usize] == document && !self.graph.of(document).any(tied)
    }

    /// Gives an original its kept document; says whether that has changed.
    fn choose_leader(&mut self, document: u32) -> bool {
        if self.original[document as usize] != document {
            return false;
        }
        let own = (document, 1.0);
        let best = if self.kept[document as usize] { None } else { self.best_leader(document, document) };
        let (leader, similarity) = best.unwrap_or(own);
        self.similarity[document as usize] = similarity;
        std::mem::replace(&mut self.leader[document as usize], leader) != leader
    }

    /// The most similar of the kept documents that an original is tied to and that come before `document`; of equal
    /// ones the first.
    fn best_leader(&self, original: u32, document: u32) -> Option<(u32, f64)> {
        let before = self.rank[document as usize];
        let rank = |document: u32| self.rank[document as usize];
        let kept = self.graph.of(original).filter(|&(other, _)| self.kept[other as usize] && rank(other) < before);
        kept.max_by(|a, b| a.1.total_cmp(&b.1).then(rank(b.0).cmp(&rank(a.0))))
    }

    /// The pairs, in order, that must be compared before the decision is final: of a kept document and the kept one of a
    /// document that it is tied to. Each is wanted once.
    pub fn wanted(&mut self) -> Vec<[u32; 2]> {
        let changed = std::mem::take(&mut self.changed);
        let mut wanted = Vec::new();
        for &document in &changed {
            let leader = self.leader[document as usize];
            for (other, _) in self.graph.of(document) {
                let (kept, other) = match (self.kept[document as usize], self.kept[other as usize]) {
                    (true, false) => (document, self.leader[other as usize]),
                    (false, true) => (other, leader),
                    _ => continue,
                };
                if kept != other {
                    wanted.push([kept.min(other), kept.max(other)]);
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|&[a, b]| {
            let pair = pack(a, b);
            let compared = self.given_below.binary_search(&pair).is_ok() || self.below.contains(&pair);
            !compared && !self.memberships.share(a, b)
        });
        wanted
    }

    /// Kept documents of large buckets with which the others have not been compared, ascending.
    pub fn new_leaders(&self) -> Vec<u32> {
        let new = |&&document: &&u32| self.kept[document as usize] && !self.led[document as usize];
        self.members.iter().filter(new).copied().collect()
    }

    /// Notes that all documents of their large buckets that come after these have been compared with them.
    pub fn lead(&mut self, documents: &[u32]) {
        documents.iter().for_each(|&document| self.led[document as usize] = true);
    }

    /// Adds compared pairs.
    pub fn add(&mut self, pairs: Pairs<'_>) {
        let mut dirty = BinaryHeap::new();
        let mut ends = Vec::new();
        for (a, b, similarity) in pairs.iter() {
            if similarity < self.threshold {
                self.below.insert(pack(a, b));
                continue;
            }
            self.graph.add(a, b, similarity);
            dirty.push(Reverse(self.rank[a as usize].max(self.rank[b as usize])));
            ends.extend([a, b]);
        }
        let flipped = self.decide_again(dirty);
        let tied = flipped.iter().flat_map(|&document| self.graph.of(document).map(|(other, _)| other));
        let mut affected: Vec<u32> = tied.chain(flipped.iter().copied()).chain(ends.iter().copied()).collect();
        affected.sort_unstable();
        affected.dedup();
        self.changed.extend(flipped.into_iter().chain(ends));
        for document in affected {
            if self.choose_leader(document) {
                self.changed.push(document);
            }
        }
        self.changed.sort_unstable();
        self.changed.dedup();
    }

    /// Decides the documents at some places of the keep order again, and those that depend on them; returns those whose
    /// outcome has changed.
    fn decide_again(&mut self, mut dirty: BinaryHeap<Reverse<u32>>) -> Vec<u32> {
        let mut flipped = Vec::new();
        while let Some(Reverse(place)) = dirty.pop() {
            while dirty.peek() == Some(&Reverse(place)) {
                dirty.pop();
            }
            let document = self.order[place as usize];
            let kept = self.is_kept(document);
            if kept != std::mem::replace(&mut self.kept[document as usize], kept) {
                flipped.push(document);
                let ties = self.graph.of(document).map(|(other, _)| self.rank[other as usize]);
                dirty.extend(ties.filter(|&other| other > place).map(Reverse));
            }
        }
        flipped
    }

    /// The kept document of each document (itself if it is kept), and its exact similarity to that one.
    pub fn outcome(&self) -> (Vec<u32>, Vec<f64>) {
        let (mut leader, mut similarity) = (self.leader.clone(), self.similarity.clone());
        for document in 0..leader.len() as u32 {
            let original = self.original[document as usize];
            if original == document {
                continue;
            }
            let kept = self.kept[original as usize].then_some((original, 1.0));
            let best = kept.or_else(|| self.best_leader(original, document)).unwrap_or((document, 1.0));
            (leader[document as usize], similarity[document as usize]) = best;
        }
        (leader, similarity)
    }
}

fn pack(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// The component of each document under the given pairs, named by its lowest position.
pub fn components(count: usize, left: &[u32], right: &[u32]) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..count as u32).collect();
    for (&a, &b) in left.iter().zip(right) {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        let (low, high) = (a.min(b), a.max(b));
        parent[high as usize] = low;
    }
    (0..count as u32).map(|document| root(&mut parent, document)).collect()
}

/// The root, halving the path on the way.
fn root(parent: &mut [u32], mut at: u32) -> u32 {
    while parent[at as usize] != at {
        parent[at as usize] = parent[parent[at as usize] as usize];
        at = parent[at as usize];
    }
    at
}

#[cfg(test)]
mod tests;

//! Groups of connected pairs, so that each of their documents is read once.

use crate::clusters::components;
use crate::watch;
use std::borrow::Cow;
use std::ops::Range;

/// Pairs are few if there are this many times more positions up to the highest one.
const SPARSE: usize = 16;

const NOWHERE: u32 = u32::MAX;

/// Pairs connected by common documents, and these documents.
pub struct Group {
    /// Its pairs: a part of [`Groups::pairs`].
    pub pairs: Range<usize>,
    /// Its documents: a part of [`Groups::documents`].
    pub documents: Range<usize>,
}

/// The ends of some pairs as places in a list of documents.
///
/// Of few pairs among many documents the list has those of the pairs only, so that comparing some pairs does not take time
/// that grows with the corpus.
pub struct Ends<'a> {
    /// The documents, ascending; none if each place is the position itself.
    documents: Option<Vec<u32>>,
    /// The place of each left document.
    pub left: Cow<'a, [u32]>,
    /// The place of each right document.
    pub right: Cow<'a, [u32]>,
}

impl<'a> Ends<'a> {
    /// The ends of pairs by position.
    pub fn new(left: &'a [u32], right: &'a [u32]) -> Ends<'a> {
        let highest = left.iter().chain(right).max().map_or(0, |&highest| highest as usize);
        if highest / SPARSE <= left.len() {
            return Ends { documents: None, left: Cow::Borrowed(left), right: Cow::Borrowed(right) };
        }
        let mut documents = [left, right].concat();
        documents.sort_unstable();
        documents.dedup();
        let place = |position: &u32| documents.partition_point(|other| other < position) as u32;
        let [left, right] = [left, right].map(|ends| Cow::Owned(ends.iter().map(place).collect()));
        Ends { documents: Some(documents), left, right }
    }

    /// The position of the document at a place.
    pub fn position(&self, place: u32) -> u32 {
        self.documents.as_ref().map_or(place, |documents| documents[place as usize])
    }
}

/// Pairs by groups. It takes time that grows with the pairs and the highest position only.
pub struct Groups {
    /// The pairs of each group, in the order they were given in.
    pub pairs: Vec<u32>,
    /// The documents of each group.
    pub documents: Vec<u32>,
    /// The place of each document within its group, by position.
    pub places: Vec<u32>,
    /// The groups, by their lowest position.
    pub groups: Vec<Group>,
}

impl Groups {
    /// The groups of some pairs.
    pub fn new(left: &[u32], right: &[u32]) -> Groups {
        let count = left.iter().chain(right).max().map_or(0, |&highest| highest as usize + 1);
        let mut group_of = components(count, left, right);
        let mut places = vec![NOWHERE; count];
        let mut sizes = Vec::new();
        watch::look();
        number_groups(&mut group_of, &mut places, &mut sizes, [left, right]);
        let mut groups = Vec::with_capacity(sizes.len());
        let (mut pairs_end, mut documents_end) = (0, 0);
        for &[pairs, documents] in &sizes {
            groups.push(Group {
                pairs: pairs_end..pairs_end + pairs,
                documents: documents_end..documents_end + documents,
            });
            (pairs_end, documents_end) = (pairs_end + pairs, documents_end + documents);
        }
        watch::look();
        let mut next: Vec<usize> = groups.iter().map(|group| group.pairs.start).collect();
        let mut pairs = vec![0; pairs_end];
        for (pair, &position) in left.iter().enumerate() {
            let next = &mut next[group_of[position as usize] as usize];
            pairs[*next] = pair as u32;
            *next += 1;
        }
        watch::look();
        let mut documents = vec![0; documents_end];
        for (position, &place) in places.iter().enumerate().filter(|&(_, &place)| place != NOWHERE) {
            let start = groups[group_of[position] as usize].documents.start;
            documents[start + place as usize] = position as u32;
        }
        Groups { pairs, documents, places, groups }
    }
}

/// Replaces the component of each document that is in a pair by the number of its group; gives each its place there,
/// and says how many pairs and documents each group has.
fn number_groups(group_of: &mut [u32], places: &mut [u32], sizes: &mut Vec<[usize; 2]>, ends: [&[u32]; 2]) {
    for position in ends.into_iter().flatten() {
        places[*position as usize] = 0;
    }
    for position in 0..places.len() {
        let first = group_of[position] as usize;
        if places[position] == NOWHERE {
            continue;
        }
        if first == position {
            group_of[position] = sizes.len() as u32;
            sizes.push([0, 0]);
        } else {
            group_of[position] = group_of[first];
        }
        let [_, documents] = &mut sizes[group_of[position] as usize];
        places[position] = *documents as u32;
        *documents += 1;
    }
    for &position in ends[0] {
        sizes[group_of[position as usize] as usize][0] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pairs_among_many_documents_have_places_of_their_own() {
        for (left, right) in
            [(vec![7u32, 5_000_000, 7], vec![90, 7, 4_000_000_000]), (vec![0, 3], vec![1, 2]), (vec![], vec![])]
        {
            let ends = Ends::new(&left, &right);
            let back = |places: &[u32]| places.iter().map(|&place| ends.position(place)).collect::<Vec<u32>>();
            assert_eq!((back(&ends.left), back(&ends.right)), (left.clone(), right.clone()));
            assert!(ends.left.iter().chain(&*ends.right).all(|&place| place < 6));
        }
    }

    #[test]
    fn pairs_lie_by_their_component_and_documents_by_their_group() {
        let found = Groups::new(&[4, 7, 1, 2, 7], &[5, 9, 2, 4, 8]);
        assert_eq!(found.pairs, [0, 2, 3, 1, 4]);
        assert_eq!(found.documents, [1, 2, 4, 5, 7, 8, 9]);
        let ranges: Vec<_> = found.groups.iter().map(|group| (group.pairs.clone(), group.documents.clone())).collect();
        assert_eq!(ranges, [(0..3, 0..4), (3..5, 4..7)]);
        for group in &found.groups {
            for (place, &position) in found.documents[group.documents.clone()].iter().enumerate() {
                assert_eq!(found.places[position as usize] as usize, place);
            }
        }
    }

    #[test]
    fn no_pairs_make_no_group() {
        assert!(Groups::new(&[], &[]).groups.is_empty());
    }
}

//! Documents with the same content, each with one representative.

use crate::hash::mix::K1;
use rayon::prelude::*;

/// An empty slot.
const FREE: u64 = u64::MAX;

/// The representative of each document: the one of lowest rank among those with equal content, the first of equal
/// ranks.
///
/// Documents without a shingle (`empty`) represent themselves. Takes 12 bytes per document in addition to the result,
/// and 8 for each that repeats another; linear time.
pub fn representatives(content: &[[u64; 2]], empty: &[bool], rank: &[u32]) -> Vec<u32> {
    let parts = rayon::current_num_threads();
    let repeats: Vec<Vec<[u32; 2]>> =
        (0..parts).into_par_iter().map(|part| repeats(content, empty, part, parts)).collect();
    let mut stands_for: Vec<u32> = (0..content.len() as u32).collect();
    for &[first, document] in repeats.iter().flatten() {
        let best = &mut stands_for[first as usize];
        if (rank[document as usize], document) < (rank[*best as usize], *best) {
            *best = document;
        }
    }
    for &[first, document] in repeats.iter().flatten() {
        stands_for[document as usize] = stands_for[first as usize];
    }
    stands_for
}

/// Each document of a part of all contents that has the content of an earlier one: the first such, and itself.
fn repeats(content: &[[u64; 2]], empty: &[bool], part: usize, parts: usize) -> Vec<[u32; 2]> {
    let documents = || {
        let hashes = content.iter().map(|own| (own[0] ^ own[1].rotate_left(32)).wrapping_mul(K1));
        let places = hashes.map(|hash| (hash, u128::from(hash) * parts as u128));
        let mine = |&(document, (_, place)): &(usize, (u64, u128))| (place >> 64) as usize == part && !empty[document];
        places.enumerate().filter(mine).map(|(document, (hash, place))| (document, hash, place as u64))
    };
    let slots = documents().count() * 3 / 2 + 1;
    let mut table = vec![FREE; slots];
    let mut found = Vec::new();
    for (document, hash, place) in documents() {
        let own = content[document];
        let mut slot = ((u128::from(place) * slots as u128) >> 64) as usize;
        // The lower half of the hash is stored with the document, so that few others are looked up.
        let same = |held: u64| held >> 32 == hash & 0xFFFF_FFFF && content[held as u32 as usize] == own;
        while table[slot] != FREE && !same(table[slot]) {
            slot = if slot + 1 == slots { 0 } else { slot + 1 };
        }
        if table[slot] == FREE {
            table[slot] = hash << 32 | document as u64;
        } else {
            found.push([table[slot] as u32, document as u32]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;
    use std::collections::HashMap;

    #[test]
    fn the_least_rank_of_each_content_stands_for_it() {
        let mut random = SplitMix64::new(4);
        for (count, values) in [(0, 1), (1, 1), (500, 1), (500, 3), (3000, 900), (3000, u64::MAX)] {
            for shift in [0, 32, 60] {
                let mut word = |other| (random.next_u64() % values.min(other)) << shift;
                let content: Vec<[u64; 2]> = (0..count).map(|_| [word(40), word(u64::MAX)]).collect();
                let rank: Vec<u32> = (0..count).map(|_| random.next_u64() as u32 % 1000).collect();
                let empty: Vec<bool> = (0..count).map(|_| random.next_u64().is_multiple_of(7)).collect();
                let mut best: HashMap<[u64; 2], (u32, u32)> = HashMap::new();
                for document in (0..count as usize).filter(|&document| !empty[document]) {
                    let own = (rank[document], document as u32);
                    best.entry(content[document]).and_modify(|best| *best = own.min(*best)).or_insert(own);
                }
                let own = |document| if empty[document] { document as u32 } else { best[&content[document]].1 };
                let want: Vec<u32> = (0..count as usize).map(own).collect();
                for threads in [1, 3] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    assert_eq!(pool.install(|| representatives(&content, &empty, &rank)), want);
                }
            }
        }
    }
}

//! Which documents have the same content? Of each content one stands for all.

use rayon::prelude::*;

/// The representative of each document: the one of least rank among those of equal content.
///
/// Documents without a shingle (`empty`) stand for themselves.
pub fn representatives(content: &[[u64; 2]], empty: &[bool], rank: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..content.len() as u32).filter(|&i| !empty[i as usize]).collect();
    order.par_sort_unstable_by_key(|&i| (content[i as usize], rank[i as usize]));
    let mut stands_for: Vec<u32> = (0..content.len() as u32).collect();
    for equal in order.chunk_by(|&a, &b| content[a as usize] == content[b as usize]) {
        for &document in equal {
            stands_for[document as usize] = equal[0];
        }
    }
    stands_for
}

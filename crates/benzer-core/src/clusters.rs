//! Which documents belong together, and which stays?
//!
//! Documents are taken in keep order. One goes only if a pair verified at the threshold ties it to a document that
//! stays; so there is no removal through a chain of resemblances.

/// Pairs and their exact similarity.
pub struct Pairs<'a> {
    /// Positions.
    pub left: &'a [u32],
    /// Positions.
    pub right: &'a [u32],
    /// Exact similarity of each pair.
    pub similarity: &'a [f64],
}

/// What became of each document.
pub struct Leaders {
    /// The document that stays for it; itself if it stays.
    pub leader: Vec<u32>,
    /// Exact similarity to that document; 1 for one that stays.
    pub similarity: Vec<f64>,
    /// Pairs (document that stays, document that stays for one of its neighbours) nobody has compared yet.
    pub wanted: Vec<[u32; 2]>,
}

/// Neighbours of each document: `links[starts[i]..starts[i + 1]]` are (other, similarity).
struct Graph {
    starts: Vec<usize>,
    links: Vec<(u32, f64)>,
}

impl Graph {
    fn new(count: usize, pairs: &Pairs<'_>, threshold: f64) -> Graph {
        let edges = || {
            let ends = pairs.left.iter().zip(pairs.right).zip(pairs.similarity);
            ends.filter(|&(_, &similarity)| similarity >= threshold).map(|((&a, &b), &s)| (a, b, s))
        };
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
        Graph { starts, links }
    }

    fn of(&self, document: u32) -> &[(u32, f64)] {
        &self.links[self.starts[document as usize]..self.starts[document as usize + 1]]
    }
}

/// Decides which documents stay. `rank` gives the place of each in the keep order; `stands_for` the document of lower
/// rank that has the same content and whose pairs are those of both (itself for most). Pairs below the threshold only
/// tell that they have been compared, so that they are not wanted again.
///
/// In keep order, each document stays unless it is tied to one that stays already; then each that goes is given the most
/// similar of those that stay and come before it (of equal ones the first). A document that stays although it is tied to
/// one that goes is compared with the one that stays for that: such pairs are `wanted`, and the caller calls again with
/// what the comparison gave, until none is.
pub fn leaders(rank: &[u32], stands_for: &[u32], pairs: &Pairs<'_>, threshold: f64) -> Leaders {
    let count = rank.len();
    let graph = Graph::new(count, pairs, threshold);
    let stays = who_stays(&graph, rank, stands_for);
    let mut result = Leaders { leader: (0..count as u32).collect(), similarity: vec![1.0; count], wanted: Vec::new() };
    for document in (0..count).filter(|&document| !stays[document]) {
        let original = stands_for[document];
        if stays[original as usize] {
            result.leader[document] = original;
        } else if let Some((leader, similarity)) = best_leader(graph.of(original), rank[document], &stays, rank) {
            result.leader[document] = leader;
            result.similarity[document] = similarity;
        }
    }
    result.wanted = second_look(&graph, &stays, &result.leader);
    drop_known(&mut result.wanted, pairs, &stays);
    result
}

fn who_stays(graph: &Graph, rank: &[u32], stands_for: &[u32]) -> Vec<bool> {
    // Ranks are the places 0, 1, 2 … in the keep order, so each document has a place of its own.
    let mut order = vec![0; rank.len()];
    rank.iter().zip(0..).for_each(|(&place, document)| order[place as usize] = document);
    let mut stays = vec![false; rank.len()];
    for document in order {
        let original = stands_for[document as usize] == document;
        stays[document as usize] = original && !graph.of(document).iter().any(|&(other, _)| stays[other as usize]);
    }
    stays
}

/// The most similar of those that stay and come before `before`; of equal ones the first.
fn best_leader(links: &[(u32, f64)], before: u32, stays: &[bool], rank: &[u32]) -> Option<(u32, f64)> {
    let kept = links.iter().copied().filter(|&(other, _)| stays[other as usize] && rank[other as usize] < before);
    kept.max_by(|a, b| a.1.total_cmp(&b.1).then(rank[b.0 as usize].cmp(&rank[a.0 as usize])))
}

/// The pairs, in order, of a document that stays and the one that stays for a document that it is tied to.
fn second_look(graph: &Graph, stays: &[bool], leader: &[u32]) -> Vec<[u32; 2]> {
    let mut wanted = Vec::new();
    for document in (0..stays.len() as u32).filter(|&document| stays[document as usize]) {
        let leaders = graph.of(document).iter().map(|&(neighbour, _)| leader[neighbour as usize]);
        let others = leaders.filter(|&leader| leader != document);
        wanted.extend(others.map(|leader| [document.min(leader), document.max(leader)]));
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Drops those of the wanted pairs (sorted; both documents of each stay) that are among `pairs`.
///
/// One look at each pair: sorting those below the threshold first, to search them, took ten times as long where
/// there were 1.7 million.
fn drop_known(wanted: &mut Vec<[u32; 2]>, pairs: &Pairs<'_>, stays: &[bool]) {
    let mut starts = vec![0; stays.len() + 1];
    wanted.iter().for_each(|pair| starts[pair[0] as usize + 1] += 1);
    for i in 0..stays.len() {
        starts[i + 1] += starts[i];
    }
    let mut known = vec![false; wanted.len()];
    let kept = |pair: &(&u32, &u32)| stays[*pair.0 as usize] && stays[*pair.1 as usize];
    for (&a, &b) in pairs.left.iter().zip(pairs.right).filter(kept) {
        let (low, high) = (a.min(b), a.max(b));
        let of_low = starts[low as usize]..starts[low as usize + 1];
        if let Ok(at) = wanted[of_low.clone()].binary_search_by_key(&high, |pair| pair[1]) {
            known[of_low.start + at] = true;
        }
    }
    let mut known = known.into_iter();
    wanted.retain(|_| known.next() == Some(false));
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
mod tests {
    use super::*;

    fn decide(rank: &[u32], edges: &[(u32, u32, f64)]) -> Leaders {
        let left: Vec<u32> = edges.iter().map(|e| e.0).collect();
        let right: Vec<u32> = edges.iter().map(|e| e.1).collect();
        let similarity: Vec<f64> = edges.iter().map(|e| e.2).collect();
        let own: Vec<u32> = (0..rank.len() as u32).collect();
        leaders(rank, &own, &Pairs { left: &left, right: &right, similarity: &similarity }, 0.8)
    }

    #[test]
    fn a_chain_removes_only_what_resembles_a_kept_document() {
        let chain = [(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9)];
        let result = decide(&[0, 1, 2, 3], &chain);
        assert_eq!((result.leader, result.wanted), (vec![0, 0, 2, 2], vec![[0, 2]]));
        for known in [(0, 2, 0.7), (2, 0, 0.7)] {
            let result = decide(&[0, 1, 2, 3], &[&chain[..], &[known, (1, 3, 0.1)]].concat());
            assert_eq!((result.leader, result.wanted), (vec![0, 0, 2, 2], vec![]));
        }
    }

    #[test]
    fn a_copy_names_the_best_that_comes_before_itself() {
        let (left, right, similarity) = ([0, 1, 0], [1, 3, 3], [0.85, 0.95, 0.5]);
        let pairs = Pairs { left: &left, right: &right, similarity: &similarity };
        let result = leaders(&[0, 1, 3, 2], &[0, 1, 1, 3], &pairs, 0.8);
        assert_eq!((result.leader, result.similarity[2]), (vec![0, 0, 3, 3], 0.95));
    }

    #[test]
    fn the_best_leader_wins_and_rank_breaks_ties() {
        let result = decide(&[0, 1, 2], &[(0, 2, 0.85), (1, 2, 0.95)]);
        assert_eq!((result.leader[2], result.similarity[2]), (1, 0.95));
        let result = decide(&[1, 0, 2], &[(0, 2, 0.9), (1, 2, 0.9)]);
        assert_eq!(result.leader[2], 1);
    }

    #[test]
    fn pairs_below_the_threshold_do_not_count() {
        assert_eq!(decide(&[0, 1], &[(0, 1, 0.79)]).leader, [0, 1]);
        assert_eq!(decide(&[0, 1], &[(0, 1, 0.8)]).leader, [0, 0]);
    }

    #[test]
    fn components_are_named_by_their_lowest_member() {
        assert_eq!(components(6, &[4, 1, 2], &[5, 2, 4]), [0, 1, 1, 3, 1, 1]);
    }
}

//! Counts the elements that two sets share, until the result is certain.

/// Steps of the merge between two looks at what can still be reached.
const STEPS: usize = 32;

/// A set is searched, not merged, if it has this many elements for each of the other.
const MUCH_LARGER: usize = 16;

/// The number of elements that two ascending sets share, if at least `need`; stops as soon as that is impossible.
#[inline(always)]
pub fn shared_at_least(a: &[u64], b: &[u64], need: usize) -> Option<usize> {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if large.len() / MUCH_LARGER >= small.len() {
        return searched(small, large, need);
    }
    let (mut i, mut j, mut shared) = (0, 0, 0);
    loop {
        let left = (small.len() - i).min(large.len() - j);
        if shared + left < need {
            return None;
        }
        if left == 0 {
            return Some(shared);
        }
        for _ in 0..left.min(STEPS) {
            let (x, y) = (small[i], large[j]);
            shared += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
}

/// Searches each element of the small set in the rest of the large one.
fn searched(small: &[u64], mut large: &[u64], need: usize) -> Option<usize> {
    let mut shared = 0;
    for (at, element) in small.iter().enumerate() {
        if shared + (small.len() - at).min(large.len()) < need {
            return None;
        }
        // By doubling steps, so that many small steps cost no more than one large one.
        let mut end = 1;
        while end < large.len() && large[end] < *element {
            end *= 2;
        }
        let from = large[..large.len().min(end)].partition_point(|other| other < element);
        large = &large[from..];
        shared += usize::from(large.first() == Some(element));
    }
    (shared >= need).then_some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix::SplitMix64;
    use crate::jaccard::intersection;

    #[test]
    fn what_is_shared_is_counted_wherever_it_is_enough() {
        let mut random = SplitMix64::new(11);
        let mut set = |size: usize, below: u64| {
            let mut set: Vec<u64> = (0..size).map(|_| random.next_u64() % below).collect();
            set.sort_unstable();
            set.dedup();
            set
        };
        for below in [3, 20, 100, 1000, 1 << 40] {
            for sizes in [[0, 0], [0, 5], [1, 1], [1, 300], [5, 90], [40, 41], [70, 300], [9, 2000]] {
                let [a, b] = sizes.map(|size| set(size, below));
                let shared = intersection(&a, &b);
                for need in 0..=a.len().max(b.len()) + 1 {
                    let want = (shared >= need).then_some(shared);
                    assert_eq!(shared_at_least(&a, &b, need), want, "{sizes:?} below {below}");
                    assert_eq!(shared_at_least(&b, &a, need), want, "{sizes:?} below {below}");
                }
            }
        }
    }
}

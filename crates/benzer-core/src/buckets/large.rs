//! Buckets above the limit: their pairs are not listed, because n documents have n² / 2 of them.
//!
//! Such a bucket usually holds a family of documents made from one template. Its documents are compared with the kept
//! documents among them instead (see [`crate::corpus`], `families`).

/// Documents whose memberships are written together.
const BLOCK: usize = 1 << 13;

/// Buckets above the limit, and their documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LargeBuckets {
    /// The documents of one bucket after the other, in ascending order within each.
    pub members: Vec<u32>,
    /// The end of each bucket in `members`.
    pub ends: Vec<usize>,
}

impl LargeBuckets {
    /// Adds a bucket. The documents must be in ascending order.
    pub fn push(&mut self, documents: &[u32]) {
        self.members.extend_from_slice(documents);
        self.ends.push(self.members.len());
    }

    /// The documents of each bucket.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start..end])
    }

    /// Whether there is no bucket.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// The large buckets of each document.
#[derive(Clone, Debug, Default)]
pub struct Memberships {
    /// The start of each document's part of `buckets`, and the end of the last; empty if there is no large bucket.
    starts: Vec<usize>,
    /// Numbers of buckets, ascending for each document.
    buckets: Vec<u32>,
}

impl Memberships {
    /// The memberships of `count` documents.
    pub fn new(count: usize, large: &LargeBuckets) -> Memberships {
        if large.is_empty() {
            return Memberships::default();
        }
        let mut starts = vec![0; count + 2];
        for &document in &large.members {
            starts[document as usize + 2] += 1;
        }
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut buckets = vec![0; large.members.len()];
        // Block by block of documents, so that the written data stays in the cache.
        let mut rest: Vec<&[u32]> = large.iter().collect();
        for block in (0..count as u32).step_by(BLOCK) {
            let end = block.saturating_add(BLOCK as u32);
            for (bucket, rest) in rest.iter_mut().enumerate() {
                while let [document, others @ ..] = *rest
                    && *document < end
                {
                    let next = &mut starts[*document as usize + 1];
                    buckets[*next] = bucket as u32;
                    *next += 1;
                    *rest = others;
                }
            }
        }
        starts.pop();
        Memberships { starts, buckets }
    }

    /// The large buckets that a document is in.
    #[inline(always)]
    pub fn of(&self, document: u32) -> &[u32] {
        match self.starts.get(document as usize..document as usize + 2) {
            Some(&[start, end]) => &self.buckets[start..end],
            _ => &[],
        }
    }

    /// Whether two documents are in the same large bucket.
    #[inline(always)]
    pub fn share(&self, a: u32, b: u32) -> bool {
        let (mut a, mut b) = (self.of(a), self.of(b));
        while let ([x, ..], [y, ..]) = (a, b) {
            match x.cmp(y) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => a = &a[1..],
                std::cmp::Ordering::Greater => b = &b[1..],
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_share_a_bucket_if_both_are_listed_in_it() {
        let mut large = LargeBuckets::default();
        large.push(&[0, 2, 3]);
        large.push(&[1, 3, 5, 2 * BLOCK as u32]);
        let found = Memberships::new(2 * BLOCK + 1, &large);
        assert_eq!(found.of(2 * BLOCK as u32), [1]);
        let shared: Vec<[u32; 2]> =
            (0..7).flat_map(|a| (a + 1..7).map(move |b| [a, b])).filter(|&[a, b]| found.share(a, b)).collect();
        assert_eq!(shared, [[0, 2], [0, 3], [1, 3], [1, 5], [2, 3], [3, 5]]);
        assert_eq!((found.of(3), found.of(4)), (&[0, 1][..], &[][..]));
    }

    #[test]
    fn without_large_buckets_no_documents_share_one() {
        let found = Memberships::new(3, &LargeBuckets::default());
        assert!(!found.share(0, 1) && found.of(2).is_empty());
    }
}

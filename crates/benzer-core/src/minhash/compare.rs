//! Operations on two signatures: the signature of the union, and an estimate of the Jaccard similarity.

use super::{Algorithm, EMPTY};
use std::cmp::Ordering;

/// Writes the signature of the union of the two sets to `out`: exactly what sketching the union would give.
///
/// # Panics
/// Where the three lengths differ.
#[inline]
pub fn merge(algorithm: Algorithm, a: &[u32], b: &[u32], out: &mut [u32]) {
    assert!(a.len() == b.len() && a.len() == out.len(), "signatures to merge have one length");
    match algorithm {
        Algorithm::Fast | Algorithm::KMins => {
            for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                *out = a.min(b);
            }
        }
        Algorithm::BottomK => {
            out.fill(EMPTY);
            for (out, (value, _)) in out.iter_mut().zip(union(a, b)) {
                *out = value;
            }
        }
    }
}

/// Estimates the Jaccard similarity of the sets behind two signatures of one sketcher: 1 where both are empty, 0 where
/// one is.
///
/// `Fast`, `KMins`: the share of equal slots. `BottomK`: the share of the smallest values of the union that are in
/// both.
///
/// # Panics
/// Where the lengths differ.
#[inline]
pub fn estimate(algorithm: Algorithm, a: &[u32], b: &[u32]) -> f64 {
    assert_eq!(a.len(), b.len(), "signatures to compare have one length");
    match algorithm {
        Algorithm::Fast | Algorithm::KMins => {
            let equal: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a == b)).sum();
            f64::from(equal) / a.len() as f64
        }
        Algorithm::BottomK => {
            let (all, both) = union(a, b)
                .take(a.len())
                .fold((0, 0), |(all, both), (_, in_both)| (all + 1, both + usize::from(in_both)));
            if all == 0 { 1.0 } else { both as f64 / all as f64 }
        }
    }
}

/// The values of two ascending signatures, each once, ascending, and whether both have it.
fn union<'a>(mut a: &'a [u32], mut b: &'a [u32]) -> impl Iterator<Item = (u32, bool)> + 'a {
    let first = |values: &[u32]| values.first().copied().unwrap_or(EMPTY);
    std::iter::from_fn(move || {
        let (least_a, least_b) = (first(a), first(b));
        let order = least_a.cmp(&least_b);
        let value = least_a.min(least_b);
        if value == EMPTY {
            return None;
        }
        if order != Ordering::Greater {
            a = &a[1..];
        }
        if order != Ordering::Less {
            b = &b[1..];
        }
        Some((value, order == Ordering::Equal))
    })
}

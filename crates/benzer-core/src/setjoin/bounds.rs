//! The number of elements that two sets must share.
//!
//! A pair counts if `shared as f64 / whole as f64 >= threshold`. The quotient is the exact one, rounded, and rounding
//! preserves order, so "enough" remains true if more is shared or the whole is smaller. Every bound here is the
//! smallest integer for which this expression is true, not a formula that may be off by one for pairs exactly at the
//! threshold.

/// A similarity or containment from which a pair counts, in (0, 1].
#[derive(Clone, Copy, Debug)]
pub struct Threshold(f64);

impl Threshold {
    /// The threshold of this value, which the caller has checked.
    pub fn new(value: f64) -> Threshold {
        Threshold(value)
    }

    /// The minimum number of elements of a set of `size` that another set of any size must share, which is also the
    /// size of the smallest set that can be similar enough.
    #[inline(always)]
    pub fn least_of(self, size: usize) -> usize {
        let estimate = (self.0 * size as f64) as usize;
        least(estimate, size, |part| part as f64 / size as f64 >= self.0)
    }

    /// The number of elements that two sets with `total` elements together must share for their Jaccard similarity to
    /// count.
    #[inline(always)]
    pub fn least_shared(self, total: usize) -> usize {
        let estimate = (self.0 / (1.0 + self.0) * total as f64) as usize;
        least(estimate, total / 2, |shared| shared as f64 / (total - shared) as f64 >= self.0)
    }
}

/// The smallest number in 1..=most for which `holds` is true, as for all larger numbers; most + 1 if there is none.
///
/// The estimate is a real number rounded down where the answer is that number rounded up, so it is never above.
#[inline(always)]
fn least(estimate: usize, most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let mut number = estimate.clamp(1, most + 1);
    while number <= most && !holds(number) {
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thresholds that quotients hit exactly, and their neighbours in float64.
    fn thresholds() -> impl Iterator<Item = f64> {
        let exact = (1..=12).flat_map(|below| (1..=below).map(move |above| f64::from(above) / f64::from(below)));
        exact.flat_map(|value| [value.next_down(), value, value.next_up()]).filter(|&value| value <= 1.0)
    }

    #[test]
    fn bounds_are_the_least_numbers_that_count() {
        for value in thresholds().chain([1e-300, 0.8, 0.95]) {
            let threshold = Threshold::new(value);
            for size in 1..60 {
                let want = (1..=size).find(|&part| part as f64 / size as f64 >= value);
                assert_eq!(Some(threshold.least_of(size)), want, "{value} of {size}");
                let want = (1..=size / 2).find(|&shared| shared as f64 / (size - shared) as f64 >= value);
                assert_eq!(threshold.least_shared(size), want.unwrap_or(size / 2 + 1), "{value} in {size}");
            }
        }
    }

    #[test]
    fn bounds_of_large_sizes_are_the_least_too() {
        for (value, size) in thresholds().flat_map(|value| (0..50).map(move |less| (value, (1 << 32) - 1 - less))) {
            let threshold = Threshold::new(value);
            let counts = |part: usize, whole: usize| part as f64 / whole as f64 >= value;
            let part = threshold.least_of(size);
            assert!(counts(part, size) && (part == 1 || !counts(part - 1, size)), "{value} of {size}");
            let shared = threshold.least_shared(size);
            assert!(shared > size / 2 || counts(shared, size - shared), "{value} in {size}");
            assert!(shared == 1 || !counts(shared - 1, size - shared + 1), "{value} in {size}");
        }
    }
}

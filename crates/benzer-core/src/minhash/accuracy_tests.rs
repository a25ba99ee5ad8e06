//! Estimates are unbiased, and as accurate as the theory predicts.
//!
//! Every bound holds for a random seed with a chance of failure below 1e-8 (six standard deviations), so that another
//! seed cannot break a test.

use super::*;

const K: usize = 128;

/// Mean error, and mean square error relative to J(1-J)/k, over `pairs` pairs of sets of `size` with J = 1/2.
fn errors(algorithm: Algorithm, size: usize, pairs: u64) -> (f64, f64) {
    let shared = 2 * size / 3;
    let truth = shared as f64 / (2 * size - shared) as f64;
    let mut random = SplitMix64::new(size as u64);
    let mut scratch = Scratch::default();
    let (mut bias, mut square) = (0.0, 0.0);
    for seed in 0..pairs {
        let sketcher = Sketcher::new(algorithm, K, seed).expect("K is in range");
        let elements: Vec<u64> = (0..2 * size - shared).map(|_| random.next_u64()).collect();
        let mut signature = |set: &[u64]| {
            let mut out = [0; K];
            sketcher.sketch(Isa::detect(), set, &mut scratch, &mut out);
            out
        };
        let (a, b) = (signature(&elements[..size]), signature(&elements[size - shared..]));
        let error = estimate(algorithm, &a, &b) - truth;
        bias += error / pairs as f64;
        square += error * error / pairs as f64;
    }
    (bias, square * K as f64 / (truth * (1.0 - truth)))
}

/// Six standard deviations of the mean of estimates that are no worse than those of independent slots.
fn bias_bound(pairs: u64) -> f64 {
    6.0 * (0.25 / (K as f64 * pairs as f64)).sqrt()
}

/// The same for the relative mean square error: the variance of a squared standardised binomial is 2 + 1/(kJ(1-J)).
fn square_bound(pairs: u64) -> f64 {
    1.0 + 6.0 * ((2.0 + 4.0 / K as f64) / pairs as f64).sqrt()
}

#[test]
fn fast_is_unbiased_and_no_worse_than_independent_slots_at_every_size() {
    for (size, pairs) in [(10, 4000), (50, 4000), (200, 4000), (1000, 2000)] {
        let (bias, square) = errors(Algorithm::Fast, size, pairs);
        println!("fast n = {size}: bias {bias:+.5}, RMSE / theory {:.3}", square.sqrt());
        assert!(bias.abs() <= bias_bound(pairs), "bias {bias} at n = {size}");
        assert!(square <= square_bound(pairs), "relative mean square error {square} at n = {size}");
        if size <= 50 {
            assert!(square <= 0.75, "small sets gain from distinct slots, got {square} at n = {size}");
        }
    }
}

#[test]
fn kmins_and_bottomk_are_as_sharp_as_theory() {
    for algorithm in [Algorithm::KMins, Algorithm::BottomK] {
        for (size, pairs) in [(30, 2000), (200, 2000)] {
            let (bias, square) = errors(algorithm, size, pairs);
            println!("{} n = {size}: bias {bias:+.5}, RMSE / theory {:.3}", algorithm.name(), square.sqrt());
            assert!(bias.abs() <= bias_bound(pairs), "{} bias {bias} at n = {size}", algorithm.name());
            assert!(square <= square_bound(pairs), "{} error {square} at n = {size}", algorithm.name());
        }
    }
    assert_eq!(errors(Algorithm::BottomK, 90, 20), (0.0, 0.0), "exact where the union has no more than k elements");
}

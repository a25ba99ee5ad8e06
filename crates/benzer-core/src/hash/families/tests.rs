//! The functions return the published values, and all forms of a function agree.

use super::*;
use crate::hash::strings::StringHash;

/// All values of all functions.
struct Values<'a>(&'a [u64]);

impl Visitor for Values<'_> {
    type Output = Vec<Vec<u64>>;

    fn visit<F: Function>(self, functions: &[F]) -> Self::Output {
        let of_one = |function: &F| {
            let values: Vec<u64> = self.0.iter().map(|&x| function.value(x)).collect();
            assert!(values.iter().all(|&value| value.leading_zeros() >= 64 - function.bits()), "within the range");
            for (&x, &value) in self.0.iter().zip(&values) {
                assert_eq!(u64::from(function.high(x)), value >> function.bits().saturating_sub(32));
            }
            values
        };
        functions.iter().map(of_one).collect()
    }
}

fn values(functions: &Functions, elements: &[u64]) -> Vec<Vec<u64>> {
    let mixed: Vec<u64> = match functions.mixer() {
        Some(mixer) => elements.iter().map(|&x| mixer.mix(x)).collect(),
        None => elements.to_vec(),
    };
    functions.visit(Values(&mixed))
}

fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut generator = SplitMix64::new(seed);
    (0..count).map(|_| generator.next_u64()).collect()
}

#[test]
fn a_longer_draw_begins_with_the_shorter_one() {
    let elements: Vec<u64> = random(20, 1).into_iter().chain(0..20).chain([u64::MAX]).collect();
    for family in Family::ALL {
        let range = family.default_range();
        let (few, many) = (family.draw(range, 3, 9), family.draw(range, 7, 9));
        assert_eq!(values(&few, &elements), values(&many, &elements)[..3], "{}", family.name());
        assert_ne!(values(&few, &elements), values(&family.draw(range, 3, 10), &elements), "{}", family.name());
        assert_eq!(Family::from_name(family.name()), Some(family));
    }
    assert_eq!(Family::from_name("md5"), None);
}

#[test]
fn both_forms_of_the_mersenne_prime_agree() {
    let edges = [0, 1, MERSENNE - 1, MERSENNE, MERSENNE + 1, 8 * MERSENNE, u64::MAX];
    let elements: Vec<u64> = random(500, 3).into_iter().chain(edges).collect();
    let mut numbers = Family::Modular.affine(MERSENNE, 20, 5).expect("they are a x + b");
    numbers.push(Affine { multiplier: MERSENNE - 1, addend: MERSENNE - 1 });
    let plain = Functions::Modular(numbers.iter().map(|n| modular(MERSENNE, n)).collect());
    assert_eq!(values(&Family::Modular.of(MERSENNE, &numbers), &elements), values(&plain, &elements));
}

#[test]
fn numbers_of_a_draw_make_the_same_functions() {
    let elements = random(50, 4);
    for (family, range) in [
        (Family::Modular, 5),
        (Family::Modular, u64::MAX),
        (Family::MultiplyShift, 0),
        (Family::Multiplicative, 14),
        (Family::Linear, 32),
        (Family::Universal, 1),
    ] {
        let numbers = family.affine(range, 6, 8).expect("they are a x + b");
        assert_eq!(values(&family.of(range, &numbers), &elements), values(&family.draw(range, 6, 8), &elements));
    }
}

#[test]
fn draws_below_a_prime_are_uniform() {
    let numbers = Family::Modular.affine(5, 40_000, 0).expect("they are a x + b");
    for (value, share) in [(0, 0.0), (1, 0.25), (2, 0.25), (3, 0.25), (4, 0.25)] {
        let found = numbers.iter().filter(|n| n.multiplier == value).count() as f64;
        assert!((found - share * 40_000.0).abs() <= 6.0 * (40_000.0 * share * (1.0 - share)).sqrt());
    }
    let zeros = numbers.iter().filter(|n| n.addend == 0).count() as f64;
    assert!((zeros - 8_000.0).abs() <= 6.0 * (40_000.0_f64 * 0.2 * 0.8).sqrt());
}

#[test]
fn seeded_functions_are_the_string_hash_of_eight_bytes() {
    let elements: Vec<u64> = random(100, 6).into_iter().chain([0, 1, u64::MAX]).collect();
    for (family, hash, bits) in [
        (Family::Murmur3x32, StringHash::Murmur3x32, 32),
        (Family::Murmur3x128, StringHash::Murmur3x128, 32),
        (Family::Xxh3, StringHash::Xxh3, 64),
    ] {
        let expected = |seed: u64| elements.iter().map(|x| hash.hash(&x.to_le_bytes(), seed)).collect::<Vec<u64>>();
        let seeds: Vec<u64> = random(8, 77).into_iter().map(|seed| seed >> (64 - bits)).collect();
        let by_strings: Vec<Vec<u64>> = seeds.into_iter().map(expected).collect();
        assert_eq!(values(&family.draw(0, 8, 77), &elements), by_strings, "{}", family.name());
    }
}

#[test]
fn java_draws_the_published_collection() {
    let numbers = Family::Linear.affine(32, 2, 1337).expect("they are a x + b");
    let signed: Vec<(i32, i32)> = numbers.iter().map(|n| (n.multiplier as i32, n.addend as i32)).collect();
    assert_eq!(signed, [(-1_460_590_454, 747_279_288), (-1_334_692_577, -539_670_452)]);
    let on_word = values(&Family::Linear.of(32, &numbers), &[5_861_128]);
    assert_eq!(on_word, [[480_357_896], [1_614_176_836]]);
}

#[test]
fn the_worked_examples_of_multiplication() {
    let knuth = [Affine { multiplier: 2_654_435_769, addend: 0 }];
    assert_eq!(values(&Family::Multiplicative.of(14, &knuth), &[123_456]), [[67]]);
    let small = [Affine { multiplier: 1, addend: 1 }, Affine { multiplier: 3, addend: 1 }];
    assert_eq!(values(&Family::Modular.of(5, &small), &[0, 1, 2, 3, 4]), [[1, 2, 3, 4, 0], [1, 4, 2, 0, 3]]);
}

#[test]
#[should_panic(expected = "the functions of the family tabulation are no a x + b")]
fn families_of_another_form_take_no_numbers() {
    Family::Tabulation.of(32, &[]);
}

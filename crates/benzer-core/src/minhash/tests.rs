//! All levels return the results of the plain rules.

use super::*;
use crate::hash::families::{Function, Visitor};
use crate::hash::mix::mix32;
use std::collections::BTreeSet;

const LENGTHS: [usize; 10] = [1, 7, 40, 64, 115, 128, 256, 300, 512, 1000];
const SIZES: [usize; 27] = [
    0, 1, 2, 3, 14, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65, 100, 127, 200, 360, 511, 1000, 1023, 1024, 1025, 2100,
    5000,
];

/// The rules of the signature, written straight down, with every round thrown and no early stop.
mod plain {
    use super::*;

    pub fn mixed(hashes: &[u64], generator: &mut SplitMix64) -> Vec<u64> {
        let key = generator.next_u64();
        let mix = |h: &u64| {
            let mut z = h ^ key;
            z ^= z >> 32;
            z = z.wrapping_mul(0xA54F_F53A_5F1D_36F1);
            z ^ (z >> 29)
        };
        hashes.iter().map(mix).collect()
    }

    pub fn signature(algorithm: Algorithm, hashes: &[u64], k: usize, seed: u64) -> Vec<u32> {
        let mut generator = SplitMix64::new(seed);
        let mixed = mixed(hashes, &mut generator);
        match algorithm {
            Algorithm::Fast => fast(&mixed, k),
            Algorithm::KMins => kmins(&mixed, k, &mut generator),
            Algorithm::BottomK => bottomk(&mixed, k),
        }
    }

    fn fast(mixed: &[u64], k: usize) -> Vec<u32> {
        let mut slots = vec![EMPTY; k];
        for &z in mixed {
            let x = z as u32;
            let p = (z >> 16) * k as u64;
            lower(&mut slots, (p >> 48) as usize, ((p >> 17) & 0x7FFF_FFFF) as u32);
            for i in 1..=7_u32 {
                let p = u64::from(mix32(x ^ i.wrapping_mul(0x9E37_79B9))) * k as u64;
                let ones = ((1_u32 << i) - 1) << (32 - i);
                lower(&mut slots, (p >> 32) as usize, ones | (((p & 0xFFFF_FFFF) >> (i + 1)) as u32));
            }
            for j in 0..k {
                let u = mix32(x ^ (j as u32 + 8).wrapping_mul(0x85EB_CA6B));
                lower(&mut slots, j, (0xFF00_0000 | u >> 8).min(0xFFFF_FFFE));
            }
        }
        slots
    }

    fn lower(slots: &mut [u32], slot: usize, code: u32) {
        slots[slot] = slots[slot].min(code);
    }

    fn kmins(mixed: &[u64], k: usize, generator: &mut SplitMix64) -> Vec<u32> {
        let slot = |_| {
            let (a, b) = (generator.next_u64() | 1, generator.next_u64());
            let values = mixed.iter().map(|&z| (a.wrapping_mul(z).wrapping_add(b) >> 32) as u32);
            values.min().map_or(EMPTY, |least| least.min(0xFFFF_FFFE))
        };
        (0..k).map(slot).collect()
    }

    fn bottomk(mixed: &[u64], k: usize) -> Vec<u32> {
        let distinct: BTreeSet<u32> = mixed.iter().map(|&z| ((z >> 32) as u32).min(0xFFFF_FFFE)).collect();
        distinct.into_iter().chain(std::iter::repeat(EMPTY)).take(k).collect()
    }
}

fn random_set(size: usize, seed: u64) -> Vec<u64> {
    let mut generator = SplitMix64::new(seed);
    (0..size).map(|_| generator.next_u64()).collect()
}

fn sketch(sketcher: &Sketcher, isa: Isa, hashes: &[u64], scratch: &mut Scratch) -> (Vec<u32>, Content) {
    let mut out = vec![12_345; sketcher.num_hashes()];
    let content = sketcher.sketch(isa, hashes, scratch, &mut out);
    (out, content)
}

fn signature(algorithm: Algorithm, hashes: &[u64], k: usize, seed: u64) -> Vec<u32> {
    let sketcher = Sketcher::new(algorithm, k, seed).expect("k is in range");
    sketch(&sketcher, Isa::detect(), hashes, &mut Scratch::default()).0
}

fn plain_content(hashes: &[u64], seed: u64) -> Content {
    let sum = |values: &[u64]| values.iter().fold(0, |sum: u64, &value| sum.wrapping_add(value));
    Content { sum: sum(hashes), mixed: sum(&plain::mixed(hashes, &mut SplitMix64::new(seed))) }
}

#[test]
fn every_level_gives_what_the_rules_say() {
    for algorithm in Algorithm::ALL {
        let mut scratch = Scratch::default();
        for (k, size) in LENGTHS.into_iter().flat_map(|k| SIZES.map(|size| (k, size))) {
            let seed = (k * 7 + size) as u64;
            let hashes = random_set(size, seed);
            let sketcher = Sketcher::new(algorithm, k, seed).expect("k is in range");
            let expected = (plain::signature(algorithm, &hashes, k, seed), plain_content(&hashes, seed));
            for isa in Isa::available() {
                let found = sketch(&sketcher, isa, &hashes, &mut scratch);
                assert_eq!(found, expected, "{} on {}, k = {k}, n = {size}", algorithm.name(), isa.name());
            }
        }
    }
}

/// What the steps of a level find: the empty slots as bits and as a list, and the elements that may hit one.
struct Steps<'a> {
    values: &'a [[u32; LANES]],
    slots: &'a [u32],
}

impl isa::Task for Steps<'_> {
    type Output = ([u64; 8], Vec<u32>, Vec<u32>);

    #[inline(always)]
    fn run<L: Level>(self) -> Self::Output {
        let mut list = vec![0; self.slots.len().next_multiple_of(LANES)];
        let mut kept = vec![0; self.values.len() * LANES];
        // SAFETY: the task runs at level L.
        let (empty, listed, hits) = unsafe {
            let empty = fast::empty_slots::<L>(self.slots).expect("a level with vectors, and few slots");
            let listed = fast::list_empty::<L>(self.slots, &mut list);
            (empty, listed, fast::keep_hits::<L>(3, self.values, self.slots.len() as u32, &empty, &mut kept))
        };
        list.truncate(listed);
        kept.truncate(hits);
        (empty, list, kept)
    }
}

#[test]
fn every_level_with_vectors_finds_the_empty_slots_and_all_elements_that_hit_one() {
    let values: Vec<u32> = random_set(640, 5).into_iter().map(|value| value as u32).collect();
    let salted = |value: u32| value ^ 3_u32.wrapping_mul(0x9E37_79B9);
    for k in (1_usize..70).chain([115, 127, 128, 129, 255, 256, 257, 300, 511, 512]) {
        let empty: Vec<u32> = (0..k as u32).filter(|slot| slot % 7 == 3 || *slot == k as u32 - 1).collect();
        let slots: Vec<u32> = (0..k as u32).map(|slot| if empty.contains(&slot) { EMPTY } else { slot }).collect();
        let hits = |value: &u32| {
            let slot = (u64::from(mix32(salted(*value))) * k as u64) >> 32;
            empty.contains(&(slot as u32))
        };
        let wanted: Vec<u32> = values.iter().filter(|value| hits(value)).map(|value| mix32(salted(*value))).collect();
        for isa in Isa::available().into_iter().filter(|&isa| isa != Isa::Portable) {
            let task = Steps { values: values.as_chunks().0, slots: &slots };
            let (bits, list, kept) = isa::run_at(isa, task);
            let set: Vec<u32> = (0..512).filter(|slot| bits[*slot as usize / 64] >> (slot % 64) & 1 == 1).collect();
            assert_eq!((&set, &list), (&empty, &empty), "{}, k = {k}", isa.name());
            let mut finished = kept.iter().map(|almost| almost ^ almost >> 16);
            assert!(wanted.iter().all(|value| finished.any(|kept| kept == *value)), "{}, k = {k}", isa.name());
            let most = if k.is_power_of_two() { wanted.len() } else { values.len().min(3 * wanted.len() + 64) };
            assert!(kept.len() <= most, "{} kept {} of {}, k = {k}", isa.name(), kept.len(), wanted.len());
        }
    }
}

/// The smallest value by each function, in 32 bits.
struct Least<'a>(&'a [u64]);

impl Visitor for Least<'_> {
    type Output = Vec<u32>;

    fn visit<F: Function>(self, functions: &[F]) -> Vec<u32> {
        let least = |function: &F| self.0.iter().map(|&x| function.high(x)).min().map_or(EMPTY, |v| v.min(EMPTY - 1));
        functions.iter().map(least).collect()
    }
}

#[test]
fn kmins_takes_the_minima_of_every_family_at_every_level() {
    for (family, size) in Family::ALL.into_iter().flat_map(|family| [0, 1, 15, 16, 17, 300].map(|size| (family, size)))
    {
        let hashes = random_set(size, size as u64);
        let sketcher = Sketcher::with_family(Algorithm::KMins, family, 20, 3).expect("20 is in range");
        let elements =
            if family == Family::Mixed { plain::mixed(&hashes, &mut SplitMix64::new(3)) } else { hashes.clone() };
        let minima = family.draw(family.default_range(), 20, 3).visit(Least(&elements));
        for isa in Isa::available() {
            let found = sketch(&sketcher, isa, &hashes, &mut Scratch::default());
            assert_eq!(found, (minima.clone(), plain_content(&hashes, 3)), "{} on {}", family.name(), isa.name());
        }
    }
}

#[test]
fn only_kmins_takes_another_family() {
    for algorithm in [Algorithm::Fast, Algorithm::BottomK] {
        let message = Sketcher::with_family(algorithm, Family::Xxh3, 8, 0).expect_err("functions of its own");
        assert!(message.contains("got family 'xxh3': choose kmins"), "{message}");
    }
}

#[test]
fn crowded_and_structured_hashes_are_no_exception() {
    let sets: [Vec<u64>; 8] = [
        vec![7],
        vec![0; 15],
        vec![u64::MAX; 17],
        vec![1 << 63; 1025],
        (0..700).collect(),
        (0..700).map(|i| i << 32).collect(),
        vec![u64::MAX; 300],
        random_set(90, 1).into_iter().cycle().take(3000).collect(),
    ];
    for (algorithm, hashes) in Algorithm::ALL.into_iter().flat_map(|a| sets.iter().map(move |set| (a, set))) {
        for (k, isa) in
            [16, 33, 100, 128, 511, 513].into_iter().flat_map(|k| Isa::available().into_iter().map(move |i| (k, i)))
        {
            let sketcher = Sketcher::new(algorithm, k, 5).expect("k is in range");
            let found = sketch(&sketcher, isa, hashes, &mut Scratch::default());
            assert_eq!(found, (plain::signature(algorithm, hashes, k, 5), plain_content(hashes, 5)));
        }
    }
}

#[test]
fn the_longest_signature_works() {
    let hashes = random_set(40, 9);
    for algorithm in Algorithm::ALL {
        let expected = plain::signature(algorithm, &hashes, MAX_HASHES, 0);
        assert_eq!(signature(algorithm, &hashes, MAX_HASHES, 0), expected);
    }
}

#[test]
fn signatures_do_not_depend_on_order_or_repeats() {
    let hashes = random_set(500, 3);
    let mut shuffled: Vec<u64> = hashes.iter().rev().chain(&hashes[..77]).copied().collect();
    shuffled.swap(0, 250);
    for (algorithm, k) in Algorithm::ALL.into_iter().flat_map(|a| LENGTHS.map(|k| (a, k))) {
        assert_eq!(signature(algorithm, &hashes, k, 1), signature(algorithm, &shuffled, k, 1));
    }
}

#[test]
fn merge_is_the_signature_of_the_union() {
    for (n, seed) in [(0, 0), (1, 1), (10, 2), (100, 3), (900, 4)] {
        let all = random_set(2 * n + n / 2, seed);
        let (a, b) = (&all[..n + n / 2], &all[n..]);
        for (algorithm, k) in Algorithm::ALL.into_iter().flat_map(|algo| LENGTHS.map(|k| (algo, k))) {
            let mut merged = vec![0; k];
            merge(algorithm, &signature(algorithm, a, k, seed), &signature(algorithm, b, k, seed), &mut merged);
            assert_eq!(merged, signature(algorithm, &all, k, seed), "{}, k = {k}, n = {n}", algorithm.name());
        }
    }
}

#[test]
fn only_the_empty_set_has_empty_slots() {
    for algorithm in Algorithm::ALL {
        assert_eq!(signature(algorithm, &[], 50, 0), [EMPTY; 50]);
    }
    for (algorithm, n) in [Algorithm::Fast, Algorithm::KMins].into_iter().flat_map(|a| [1, 2, 60].map(|n| (a, n))) {
        assert!(!signature(algorithm, &random_set(n, 8), 1000, 0).contains(&EMPTY));
    }
}

#[test]
fn estimates_of_known_sets() {
    for algorithm in Algorithm::ALL {
        let (none, some) = (signature(algorithm, &[], 64, 0), signature(algorithm, &[1, 2, 3], 64, 0));
        let other = signature(algorithm, &random_set(300, 1), 64, 0);
        assert_eq!(estimate(algorithm, &none, &none), 1.0);
        assert_eq!(estimate(algorithm, &none, &some), 0.0);
        assert_eq!(estimate(algorithm, &other, &other), 1.0);
    }
    let (a, b) = ((0..60).collect::<Vec<u64>>(), (40..100).collect::<Vec<u64>>());
    let sketch = |set: &[u64]| signature(Algorithm::BottomK, set, 100, 0);
    assert_eq!(estimate(Algorithm::BottomK, &sketch(&a), &sketch(&b)), 0.2, "exact where the union fits");
}

#[test]
fn seeds_and_algorithms_give_other_signatures() {
    let hashes = random_set(50, 2);
    for algorithm in Algorithm::ALL {
        assert_ne!(signature(algorithm, &hashes, 32, 0), signature(algorithm, &hashes, 32, 1));
        assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
    }
    assert_eq!(Algorithm::from_name("median"), None);
}

#[test]
fn lengths_out_of_range_are_refused_with_number_and_cure() {
    for bad in [0, MAX_HASHES + 1] {
        let message = Sketcher::new(Algorithm::Fast, bad, 0).expect_err("out of range");
        assert!(message.contains(&format!("got {bad}: try 128")), "{message}");
    }
}

#[test]
#[should_panic(expected = "a signature has num_hashes values")]
fn a_signature_of_another_length_is_refused() {
    let sketcher = Sketcher::new(Algorithm::Fast, 8, 0).expect("in range");
    sketcher.sketch(Isa::Portable, &[1], &mut Scratch::default(), &mut [0; 9]);
}

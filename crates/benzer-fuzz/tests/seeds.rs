//! The targets hold for the seeds in `fuzz/corpus`, and for mutations of these that are the same on every run.
//!
//! For longer runs, `BENZER_FUZZ_MUTATIONS` is the number of mutations for each target, `BENZER_FUZZ_SEED` chooses others,
//! and `BENZER_FUZZ_SEEDS` is a folder of seeds instead of `fuzz/corpus`, e.g. what libFuzzer has found.

use benzer_core::hash::mix::SplitMix64;
use benzer_fuzz::{TARGETS, Target};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// Mutations longer than this are cut, so that each takes about as long as a seed.
const LONGEST: usize = 1024;

/// Bytes that mean something to a target.
const TOKENS: [&[u8]; 16] = [
    b"\n",
    b"\r\n",
    b"\t",
    b"\0",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"\\ud83d",
    b"\\u0000",
    b"\xEF\xBB\xBF",
    b"\xCC\x81",
    b"\xE6\x9D\xB1",
    b"\xFF\xFF\xFF\xFF",
    b"-",
    b" ",
];

fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let folder = std::env::var_os("BENZER_FUZZ_SEEDS").map_or(own, PathBuf::from).join(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |file: std::fs::DirEntry| {
        let data = std::fs::read(file.path()).expect("a seed can be read");
        (file.file_name().to_string_lossy().into_owned(), data)
    };
    let mut seeds: Vec<_> = files.map(|file| read(file.expect("an entry of the folder"))).collect();
    seeds.sort();
    seeds
}

/// Changes some bytes, repeats or removes a stretch, or puts in a token or a stretch of another seed.
fn mutated(data: &[u8], other: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut data = data.to_vec();
    let mut below = |limit: usize| random.next_u64() as usize % limit.max(1);
    for _ in 0..1 + below(4) {
        let index = below(data.len() + 1);
        let until = (index + 1 + below(12)).min(data.len());
        match below(6) {
            0 if index < data.len() => data[index] = below(256) as u8,
            1 if index < data.len() => data[index] ^= 1 << below(8),
            2 => _ = data.drain(index..until),
            3 => {
                let stretch = data[index..until].repeat(1 + below(4));
                data.splice(index..index, stretch);
            }
            4 => {
                let from = below(other.len() + 1);
                let stretch = &other[from..(from + below(60)).min(other.len())];
                data.splice(index..until, stretch.iter().copied());
            }
            _ => _ = data.splice(index..index, TOKENS[below(TOKENS.len())].iter().copied()),
        }
    }
    data.truncate(LONGEST);
    data
}

/// Runs a target; where it fails, the message has the input, as it can be written to a file for the fuzzer.
fn run(target: Target, data: &[u8], name: &str) {
    if catch_unwind(AssertUnwindSafe(|| target(data))).is_err() {
        panic!("{name} fails for b\"{}\"", data.escape_ascii());
    }
}

/// The number in an environment variable.
fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |number| number.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

fn check(name: &str) {
    // A pool of this thread alone: no target waits for another thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    let _pool = pool.expect("this thread is in no other pool");
    let (_, target) = *TARGETS.iter().find(|(other, _)| *other == name).expect("a target of this name");
    let seeds = seeds(name);
    assert!(seeds.len() >= 10, "{} seeds for {name}", seeds.len());
    seeds.iter().for_each(|(seed, data)| run(target, data, &format!("{name} of seed {seed}")));
    let mut random = SplitMix64::new(setting("BENZER_FUZZ_SEED", 17));
    for number in 0..setting("BENZER_FUZZ_MUTATIONS", 3_000) {
        let [(seed, data), (_, other)] = [0; 2].map(|_| &seeds[random.next_u64() as usize % seeds.len()]);
        let data = mutated(data, other, &mut random);
        run(target, &data, &format!("{name} of mutation {number}, of seed {seed},"));
    }
}

#[test]
fn json_lines_are_read_alike() {
    check("jsonl");
}

#[test]
fn texts_are_read_as_defined() {
    check("text");
}

#[test]
fn corpora_are_compared_as_all_pairs_are() {
    check("corpus");
}

#[test]
fn passages_are_in_both_texts() {
    check("evidence");
}

#[test]
fn stored_data_is_searched_as_it_is() {
    check("stored");
}

#[test]
fn each_target_has_a_binary_for_libfuzzer_and_no_seeds_are_left_over() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let names = |part: &str| {
        let files = std::fs::read_dir(folder.join(part)).expect("a folder of fuzz");
        let mut names: Vec<String> = files
            .map(|file| file.expect("an entry").path().file_stem().expect("a name").to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    let mut expected: Vec<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    expected.sort();
    assert_eq!(names("fuzz_targets"), expected);
    assert_eq!(names("corpus"), expected);
}

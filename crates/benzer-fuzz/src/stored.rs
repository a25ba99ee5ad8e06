//! What an index stores: postings, their blocks, and documents, sound and damaged.

use benzer_core::bands::NO_KEY;
use benzer_core::contents::{FieldReader, Malformed};
use benzer_core::minhash::{Algorithm, Sketcher};
use benzer_core::postings::{Blocks, Missing, Postings, Run, search};
use benzer_core::question::{LACKING, Rules};
use benzer_core::text::{Reader, Recipe};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::input::Input;

/// Checks postings and blocks, or documents; the first byte says which.
pub fn stored(data: &[u8]) {
    let mut input = Input::new(data);
    match input.below(3) {
        0 => check_postings(&mut input),
        1 => check_damaged_blocks(&mut input),
        _ => check_documents(&mut input),
    }
}

/// A key: one of a few, near one of these, or any.
fn key(input: &mut Input<'_>) -> u64 {
    let choice = input.byte();
    match choice % 4 {
        0 => u64::from(choice / 4) << 58,
        1 => u64::from(choice / 4),
        2 => u64::MAX - u64::from(choice / 4),
        _ => input.number(),
    }
}

/// Runs of postings: a search in them, whole or by blocks, finds what looking at all postings finds.
fn check_postings(input: &mut Input<'_>) {
    let bands = 1 + input.below(4);
    let room = input.pick(&[0, 300, 5000, 1 << 20]);
    let runs: Vec<Run> = (0..1 + input.below(3) as u32)
        .map(|number| Run { number: 3 * number, parts: input.pick(&[1, 2, 7, 1000, u32::MAX]) })
        .collect();
    let mut wanted: Vec<u64> = (0..bands * (1 + input.below(6))).map(|_| key(input)).collect();
    let mut of_runs: Vec<Vec<(u64, u32)>> = vec![Vec::new(); runs.len()];
    while !input.is_empty() {
        let choice = input.byte();
        let posting = if choice & 1 > 0 { wanted[usize::from(choice) % wanted.len()] } else { key(input) };
        if posting != NO_KEY {
            of_runs[usize::from(choice / 2) % runs.len()].push((posting, u32::from(choice / 16)));
        }
    }
    of_runs.iter_mut().for_each(|postings| postings.sort_unstable());
    let split: Vec<(Vec<u64>, Vec<u32>)> = of_runs.iter().map(|run| run.iter().copied().unzip()).collect();
    let views: Vec<Postings<'_>> = split.iter().map(|(keys, numbers)| Postings { keys, numbers }).collect();
    let mut blocks = Blocks::new(room);
    for _ in 0..2 {
        let expected = found_plainly(&wanted, bands, &of_runs);
        assert_eq!(search(&wanted, bands, &views), expected, "whole runs");
        let missing = blocks.missing(&wanted, &runs);
        assert!(missing.is_sorted() && missing.iter().collect::<HashSet<_>>().len() == missing.len());
        for (index, &place) in missing.iter().enumerate() {
            // The last block is handed over late.
            if index + 1 == missing.len() {
                assert_eq!(blocks.search(&wanted, bands, &runs, &[]), Err(Missing(place)));
            }
            let (keys, numbers) = block(place, &runs, &of_runs);
            blocks.put(place, &keys, &numbers);
        }
        assert_eq!(blocks.search(&wanted, bands, &runs, &[]), Ok(expected.clone()), "blocks");
        let (first, others) = (&runs[..1], &views[1..]);
        assert_eq!(blocks.search(&wanted, bands, first, others), Ok(expected), "a run by blocks, the others whole");
        blocks.trim();
        wanted.reverse();
    }
}

/// The bytes of the block of a place: its keys, and their documents.
fn block(place: u64, runs: &[Run], of_runs: &[Vec<(u64, u32)>]) -> (Vec<u8>, Vec<u8>) {
    let index = runs.iter().position(|run| place >> 32 == u64::from(run.number)).expect("a block of a run");
    let inside = || of_runs[index].iter().filter(|&&(key, _)| runs[index].place(key) == place);
    let keys = inside().flat_map(|(key, _)| key.to_le_bytes()).collect();
    (keys, inside().flat_map(|(_, number)| number.to_le_bytes()).collect())
}

/// The pairs of rows and documents by looking at all postings.
fn found_plainly(wanted: &[u64], bands: usize, of_runs: &[Vec<(u64, u32)>]) -> Vec<u64> {
    let mut actual = BTreeSet::new();
    for (row, keys) in (0u64..).zip(wanted.chunks(bands)) {
        let kept = of_runs.iter().flatten().filter(|(key, _)| *key != NO_KEY && keys.contains(key));
        actual.extend(kept.map(|&(_, number)| row << 32 | u64::from(number)));
    }
    actual.into_iter().collect()
}

/// Blocks of any bytes: a search ends, and finds only numbers that are there under a key that is searched.
fn check_damaged_blocks(input: &mut Input<'_>) {
    let run = Run { number: input.pick(&[0, 1, u32::MAX]), parts: input.pick(&[1, 2, 1000, u32::MAX]) };
    let mut wanted: Vec<u64> = (0..1 + input.below(4)).map(|_| key(input)).collect();
    let bytes = input.rest();
    let count = bytes.len() / 12;
    let (keys, numbers) = (&bytes[..8 * count], &bytes[8 * count..12 * count]);
    wanted.extend(keys.as_chunks().0.iter().take(2).map(|&key| u64::from_le_bytes(key)));
    let mut blocks = Blocks::new(1000);
    for place in blocks.missing(&wanted, &[run]) {
        blocks.put(place, keys, numbers);
    }
    let actual = blocks.search(&wanted, 1, &[run], &[]).expect("all blocks are there");
    let kept: HashSet<(u64, u32)> = keys
        .as_chunks()
        .0
        .iter()
        .zip(numbers.as_chunks().0)
        .map(|(&key, &number)| (u64::from_le_bytes(key), u32::from_le_bytes(number)))
        .collect();
    assert!(actual.is_sorted());
    for pair in actual {
        assert!(kept.contains(&(wanted[(pair >> 32) as usize], pair as u32)), "{pair:x} is not there");
    }
}

/// Documents as they are stored, with any bytes: malformed ones are refused, others compared as their texts are.
fn check_documents(input: &mut Input<'_>) {
    let fields = 1 + input.below(2);
    let recipe = Recipe { shingle_size: 1, ..Recipe::PLAIN };
    let reader = Arc::new(Reader::new(recipe, &[]));
    let rules = Rules {
        readers: vec![FieldReader::Text(Arc::clone(&reader)); fields],
        weights: (1..=fields).map(|weight| weight as f64).collect(),
        sketcher: Sketcher::new(Algorithm::Fast, 8, 0).expect("a size that is allowed"),
        bands: 4,
        rows: 2,
    };
    let kept: Vec<Vec<u8>> = input.rest().split(|&byte| byte == b'\n').take(8).map(laid_out).collect();
    let views: Vec<&[u8]> = kept.iter().map(Vec::as_slice).collect();
    let read: Vec<Option<Vec<Option<&str>>>> = views.iter().map(|data| texts(data, fields)).collect();
    let query = read.iter().flatten().next().cloned().unwrap_or_else(|| vec![Some("a b c"); fields]);
    let none = vec![None; fields];
    let asked = [query.iter().map(|text| text.map(str::as_bytes)).collect()];
    let question = rules.ask(&asked, &none).expect("a sound document").remove(0);
    let actual = rules.best(&question, &views, 0.0, 100);
    match read.iter().position(Option::is_none) {
        Some(place) => assert_eq!(actual, Err(Malformed(place))),
        None => {
            let actual = actual.expect("all documents are sound");
            assert_eq!(actual.iter().map(|this| this.place).collect::<HashSet<_>>().len(), kept.len());
            assert!(actual.is_sorted_by(|a, b| a.similarity >= b.similarity));
            for this in &actual {
                let other = read[this.place].as_ref().expect("a sound document");
                let expected = similarity(&reader, &rules.weights, &query, other);
                assert!((this.similarity - expected).abs() < 1e-12, "{} and {expected}", this.similarity);
            }
            let mut keys = vec![0; rules.width()];
            rules.keys(&asked, &none, &mut keys).expect("a sound document");
            assert_eq!(keys, question.keys, "the keys of a document do not depend on what it is read for");
        }
    }
}

/// The bytes of a stored document: those of the line, in which "\x01" and "\x02" stand for whole lengths.
fn laid_out(line: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut rest = line;
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            1 => {
                let len = rest.iter().position(|&byte| byte <= 2).unwrap_or(rest.len());
                data.extend((len as u32).to_le_bytes());
            }
            2 => data.extend(LACKING.to_le_bytes()),
            other => data.push(other),
        }
    }
    data
}

/// The text of each field of a stored document, none where it lacks the field; none where it is malformed.
fn texts(data: &[u8], fields: usize) -> Option<Vec<Option<&str>>> {
    let (mut texts, mut index) = (Vec::new(), 0);
    for _ in 0..fields {
        let length = u32::from_le_bytes(data.get(index..index + 4)?.try_into().ok()?);
        index += 4;
        if length == LACKING {
            texts.push(None);
        } else {
            let end = index + length as usize;
            texts.push(Some(std::str::from_utf8(data.get(index..end)?).ok()?));
            index = end;
        }
    }
    Some(texts)
}

fn similarity(reader: &Reader, weights: &[f64], this: &[Option<&str>], other: &[Option<&str>]) -> f64 {
    let (mut sum, mut total, mut nothing) = (0.0, 0.0, true);
    for (field, &weight) in weights.iter().enumerate() {
        let tokens = |text: Option<&str>| text.map(|text| reader.tokens(text).into_iter().collect::<HashSet<_>>());
        let [a, b] = [tokens(this[field]), tokens(other[field])];
        let size = |set: &Option<HashSet<String>>| set.as_ref().map_or(0, HashSet::len);
        nothing &= size(&a) + size(&b) == 0;
        if let (Some(a), Some(b)) = (a, b)
            && !(a.is_empty() && b.is_empty())
        {
            sum += weight * a.intersection(&b).count() as f64 / a.union(&b).count() as f64;
            total += weight;
        }
    }
    if total > 0.0 { sum / total } else { f64::from(u8::from(nothing)) }
}

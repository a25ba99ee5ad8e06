//! Inputs of the kernels. They are made from fixed seeds and resemble real ones: words of a skewed vocabulary, sets
//! of a few hundred elements, and a fifth of the documents near-duplicates.

use benzer_core::hash::mix::SplitMix64;

/// Words in a document of usual length.
const WORDS: usize = 320;

/// Letters of the words; the second alphabet is that of texts that need Unicode, about one letter in twenty.
const LATIN: &[char] =
    &['e', 't', 'a', 'o', 'i', 'n', 's', 'h', 'r', 'd', 'l', 'u', 'c', 'm', 'f', 'w', 'g', 'y', 'p', 'b'];
const MORE: &[char] = &['é', 'ü', 'ß', 'ş', 'ı', 'λ', 'д', 'ж', '文', '字'];

/// Which characters a text holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// ASCII alone.
    Ascii,
    /// ASCII with some of all the rest.
    Unicode,
}

fn below(random: &mut SplitMix64, bound: usize) -> usize {
    (random.next_u64() >> 33) as usize % bound
}

fn word(random: &mut SplitMix64, script: Script) -> String {
    let length = 1 + below(random, 5) + below(random, 6);
    let capital = below(random, 8) == 0;
    let letters = (0..length).map(|at| {
        let other = script == Script::Unicode && below(random, 20) == 0;
        let letters = if other { MORE } else { LATIN };
        let letter = letters[below(random, letters.len())];
        if capital && at == 0 { letter.to_ascii_uppercase() } else { letter }
    });
    letters.collect()
}

/// Documents of words with punctuation and line ends; every fifth is the one before it with a word changed.
pub fn texts(count: usize, script: Script) -> Vec<String> {
    let mut random = SplitMix64::new(7);
    let vocabulary: Vec<String> = (0..4000).map(|_| word(&mut random, script)).collect();
    let mut texts: Vec<String> = Vec::new();
    for number in 0..count {
        let text = match texts.last() {
            Some(last) if number % 5 == 4 => last.replacen(' ', " changed ", 1),
            _ => document(&mut random, &vocabulary),
        };
        texts.push(text);
    }
    texts
}

fn document(random: &mut SplitMix64, vocabulary: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..WORDS / 2 + below(random, WORDS) {
        // The minimum of two draws: a few words are frequent, as in any language.
        let rank = below(random, vocabulary.len()).min(below(random, vocabulary.len()));
        text.push_str(&vocabulary[rank]);
        text.push_str([" ", " ", " ", " ", " ", " ", ", ", ". ", "\n", " 1984 "][below(random, 10)]);
    }
    text
}

/// The documents as lines of JSONL, with escapes.
pub fn jsonl(texts: &[String]) -> Vec<u8> {
    let mut data = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let escaped = text.replace('\n', "\\n");
        data.extend_from_slice(
            format!("{{\"id\": {number}, \"text\": \"{escaped}\", \"language\": \"en\"}}\n").as_bytes(),
        );
    }
    data
}

/// Hashes without order.
pub fn hashes(count: usize, seed: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.next_u64()).collect()
}

/// Two ascending sets of `size` elements that share three quarters.
pub fn two_sets(size: usize) -> [Vec<u64>; 2] {
    let all = hashes(size + size / 4, 11);
    [&all[..size], &all[size / 4..]].map(|part| {
        let mut set = part.to_vec();
        set.sort_unstable();
        set.dedup();
        set
    })
}

/// The band keys of `count` documents: a fifth shares some bands with the document before it.
pub fn band_keys(count: usize, bands: usize) -> Vec<u64> {
    let mut random = SplitMix64::new(13);
    let mut keys: Vec<u64> = Vec::with_capacity(count * bands);
    for document in 0..count {
        for band in 0..bands {
            let alike = document % 5 == 4 && below(&mut random, 10) < 6;
            keys.push(if alike { keys[(document - 1) * bands + band] } else { random.next_u64() });
        }
    }
    keys
}

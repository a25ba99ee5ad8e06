//! String hashes by name.
//!
//! All read bytes, so a text is hashed as its UTF-8: a character outside ASCII counts as two to four bytes.
//!
//! | name | function | bits | seed |
//! |---|---|---|---|
//! | `benzer` | [`token_hash`], what the tokens of the default shingles are hashed with | 64 | none |
//! | `djb2a` | Bernstein's hash with exclusive or | 32 | none |
//! | `murmur3_32` | MurmurHash3 x86 32 (A. Appleby 2011) | 32 | 32 bits |
//! | `murmur3_128` | MurmurHash3 x64 128, its first 64 bits | 64 | 32 bits |
//! | `xxh3` | XXH3 (Y. Collet 2019) | 64 | 64 bits |

use super::shingle::token_hash;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A named way to turn bytes into a number.
///
/// ```
/// # use benzer_core::hash::strings::StringHash;
/// let djb2a = StringHash::from_name("djb2a").unwrap();
/// assert_eq!(djb2a.hash(b"he", 0), 5_861_128);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringHash {
    /// The hash of tokens, [`token_hash`].
    Benzer,
    /// Bernstein's hash, with exclusive or.
    Djb2a,
    /// MurmurHash3, the 32-bit variant.
    Murmur3x32,
    /// MurmurHash3, the first 64 bits of the 128-bit variant for 64-bit machines.
    Murmur3x128,
    /// XXH3, 64 bits.
    Xxh3,
}

impl StringHash {
    /// All string hashes, the default first.
    pub const ALL: [StringHash; 5] =
        [StringHash::Benzer, StringHash::Djb2a, StringHash::Murmur3x32, StringHash::Murmur3x128, StringHash::Xxh3];

    /// The name used in settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            StringHash::Benzer => "benzer",
            StringHash::Djb2a => "djb2a",
            StringHash::Murmur3x32 => "murmur3_32",
            StringHash::Murmur3x128 => "murmur3_128",
            StringHash::Xxh3 => "xxh3",
        }
    }

    /// The string hash of that name.
    pub fn from_name(name: &str) -> Option<StringHash> {
        Self::ALL.into_iter().find(|hash| hash.name() == name)
    }

    /// The hash of `bytes`, below 2^32 for the 32-bit ones. `Benzer` and `Djb2a` have no seed and ignore it;
    /// MurmurHash3 takes its low 32 bits.
    #[inline]
    pub fn hash(self, bytes: &[u8], seed: u64) -> u64 {
        match self {
            StringHash::Benzer => token_hash(bytes),
            StringHash::Djb2a => u64::from(djb2a(bytes)),
            StringHash::Murmur3x32 => u64::from(murmur3_32(bytes, seed as u32)),
            StringHash::Murmur3x128 => murmur3_128(bytes, seed as u32)[0],
            StringHash::Xxh3 => xxh3_64_with_seed(bytes, seed),
        }
    }
}

/// `h = 33 h xor byte`, from 5381, in 32 bits (D. J. Bernstein, comp.lang.c).
#[inline]
pub fn djb2a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(5381, |h: u32, &byte| h.wrapping_mul(33) ^ u32::from(byte))
}

/// MurmurHash3_x86_32 (A. Appleby).
#[inline]
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let (words, rest) = bytes.as_chunks();
    let mut h = seed;
    for &word in words {
        h = (h ^ scramble_32(u32::from_le_bytes(word))).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64);
    }
    // A remainder of no bytes is scrambled to 0, which changes nothing.
    let last = rest.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    finish_32(h ^ scramble_32(last) ^ bytes.len() as u32)
}

#[inline(always)]
fn scramble_32(word: u32) -> u32 {
    word.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593)
}

#[inline(always)]
fn finish_32(h: u32) -> u32 {
    let h = (h ^ h >> 16).wrapping_mul(0x85EB_CA6B);
    let h = (h ^ h >> 13).wrapping_mul(0xC2B2_AE35);
    h ^ h >> 16
}

const C1: u64 = 0x87C3_7B91_1142_53D5;
const C2: u64 = 0x4CF5_AD43_2745_937F;

/// MurmurHash3_x64_128 (A. Appleby), its two words in the order in which they are written.
#[inline]
pub fn murmur3_128(bytes: &[u8], seed: u32) -> [u64; 2] {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let (mut h1, mut h2) = (u64::from(seed), u64::from(seed));
    for block in blocks {
        let [k1, k2] = words(block);
        h1 = (h1 ^ scramble_first(k1)).rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52DC_E729);
        h2 = (h2 ^ scramble_second(k2)).rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5AB5);
    }
    // The remainder, filled up with zeros: a word of zeros is scrambled to 0, which changes nothing.
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    let [k1, k2] = words(&last);
    let len = bytes.len() as u64;
    (h1, h2) = (h1 ^ scramble_first(k1) ^ len, h2 ^ scramble_second(k2) ^ len);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (h1, h2) = (finish_64(h1), finish_64(h2));
    h1 = h1.wrapping_add(h2);
    [h1, h2.wrapping_add(h1)]
}

#[inline(always)]
fn words(block: &[u8; 16]) -> [u64; 2] {
    let both = u128::from_le_bytes(*block);
    [both as u64, (both >> 64) as u64]
}

#[inline(always)]
fn scramble_first(word: u64) -> u64 {
    word.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

#[inline(always)]
fn scramble_second(word: u64) -> u64 {
    word.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

#[inline(always)]
fn finish_64(h: u64) -> u64 {
    let h = (h ^ h >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let h = (h ^ h >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    h ^ h >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_hashes() {
        for hash in StringHash::ALL {
            assert_eq!(StringHash::from_name(hash.name()), Some(hash));
        }
        assert_eq!(StringHash::from_name("md5"), None);
    }

    #[test]
    fn murmur3_gives_the_published_values() {
        let cases: [(&[u8], u32, u32); 7] = [
            (b"", 0, 0),
            (b"", 1, 0x514E_28B7),
            (b"", 0xFFFF_FFFF, 0x81F1_6F39),
            (b"test", 0, 0xBA6B_D213),
            (b"test", 0x9747_B28C, 0x704B_81DC),
            (b"Hello, world!", 0, 0xC036_3E43),
            (b"The quick brown fox jumps over the lazy dog", 0, 0x2E4F_F723),
        ];
        for (bytes, seed, expected) in cases {
            assert_eq!(murmur3_32(bytes, seed), expected, "{bytes:?} seed {seed}");
        }
    }

    /// SMHasher's own check: keys 0, 01, 012 … of up to 255 bytes with seeds 256 … 1, and the hash of all the hashes.
    fn verification(hash: impl Fn(&[u8], u32) -> Vec<u8>) -> u32 {
        let key: Vec<u8> = (0..=255).collect();
        let all: Vec<u8> = (0..256).flat_map(|len| hash(&key[..len], 256 - len as u32)).collect();
        let last = hash(&all, 0);
        u32::from_le_bytes([last[0], last[1], last[2], last[3]])
    }

    #[test]
    fn murmur3_passes_the_verification_of_smhasher() {
        assert_eq!(verification(|key, seed| murmur3_32(key, seed).to_le_bytes().to_vec()), 0xB0F5_7EE3);
        let both = |key: &[u8], seed| murmur3_128(key, seed).iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(verification(both), 0x6384_BA69);
    }

    #[test]
    fn djb2a_gives_the_worked_value_and_xxh3_the_published_one_of_nothing() {
        assert_eq!(djb2a(b"he"), 5_861_128);
        assert_eq!(StringHash::Xxh3.hash(b"", 0), 0x2D06_8005_38D3_94C2);
    }
}

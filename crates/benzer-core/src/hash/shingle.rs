//! Which number stands for a token, a shingle, a value?
//!
//! A token is hashed once; a word shingle combines the hashes of its tokens; a character shingle and a value are
//! hashed from their bytes. All are fixed functions of the bytes, the same on every machine.

use super::mix::{K1, K2, K3, K4, finish, mum};

/// Bits that each further token of a shingle is rotated by: odd, so that 64 positions stay apart.
pub const ROTATION: u32 = 11;

/// Bytes that must be readable after the start of a token for [`load_token`]: the length of a short token.
pub const PADDING: usize = 16;

const fn low_bytes(count: usize) -> u64 {
    if count >= 8 { u64::MAX } else { (1 << (8 * count)) - 1 }
}

/// Masks that keep the first n bytes of 16, as two words, for n = 0 … 16.
static MASKS: [[u64; 2]; 17] = {
    let mut masks = [[0; 2]; 17];
    let mut n = 0;
    while n <= 16 {
        masks[n] = [low_bytes(n), if n > 8 { low_bytes(n - 8) } else { 0 }];
        n += 1;
    }
    masks
};

/// The first 8 bytes as a number, missing ones as zeros. Short slices are read as two or three overlapping parts: a
/// copy of variable length would be a call.
#[inline(always)]
fn word_at(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    if let Some(word) = bytes.first_chunk() {
        return u64::from_le_bytes(*word);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4));
    }
    match bytes {
        [] => 0,
        [first, .., last] => {
            let middle = u64::from(bytes[len / 2]) << (8 * (len / 2));
            u64::from(*first) | middle | u64::from(*last) << (8 * (len - 1))
        }
        [only] => u64::from(*only),
    }
}

/// Hash of a token's bytes.
pub fn token_hash(bytes: &[u8]) -> u64 {
    let second = bytes.get(8..).unwrap_or(&[]);
    let h = first_sixteen(word_at(bytes), word_at(second), bytes.len());
    if bytes.len() > 16 { continue_long(h, bytes) } else { h }
}

#[inline(always)]
fn first_sixteen(a: u64, b: u64, len: usize) -> u64 {
    mum(a ^ K1, b ^ K3 ^ len as u64)
}

#[cold]
#[inline(never)]
fn continue_long(h: u64, bytes: &[u8]) -> u64 {
    bytes[16..].chunks(8).fold(h, |h, chunk| mum(h ^ K2, word_at(chunk) ^ K4))
}

/// The first 16 bytes at `start` with those past `len` cleared, and the bits that are set in any of them.
///
/// # Safety
/// `PADDING` bytes from `start` must be readable.
#[inline(always)]
pub unsafe fn load_token(start: *const u8, len: usize) -> (u64, u64) {
    // SAFETY: the caller vouches for 16 readable bytes; the mask index is at most 16.
    unsafe {
        let mask = MASKS.get_unchecked(len.min(16));
        let a = u64::from_le(start.cast::<u64>().read_unaligned()) & mask[0];
        let b = u64::from_le(start.add(8).cast::<u64>().read_unaligned()) & mask[1];
        (a, b)
    }
}

/// [`token_hash`] of a token of `len` bytes, at most [`PADDING`], from what [`load_token`] gave.
#[inline(always)]
pub fn short_token_hash(loaded: (u64, u64), len: usize) -> u64 {
    first_sixteen(loaded.0, loaded.1, len)
}

/// Hash of a run of tokens, from their hashes.
#[inline(always)]
pub fn word_shingle(tokens: &[u64]) -> u64 {
    let rotated = tokens.iter().enumerate().map(|(i, w)| w.rotate_left(ROTATION * (i as u32 & 63)));
    finish(rotated.fold(0, u64::wrapping_add))
}

/// Appends the hashes of all runs of `size` tokens; one of all tokens where there are fewer; none where there is none.
#[inline(always)]
pub fn word_shingles(tokens: &[u64], size: usize, out: &mut Vec<u64>) {
    match size {
        _ if tokens.is_empty() => {}
        _ if tokens.len() < size => out.push(word_shingle(tokens)),
        // The common sizes as constants, so that the loop over a shingle's tokens is unrolled and vectorised.
        1 => fixed_shingles::<1>(tokens, out),
        2 => fixed_shingles::<2>(tokens, out),
        3 => fixed_shingles::<3>(tokens, out),
        4 => fixed_shingles::<4>(tokens, out),
        5 => fixed_shingles::<5>(tokens, out),
        _ => out.extend(tokens.windows(size).map(word_shingle)),
    }
}

#[inline(always)]
fn fixed_shingles<const N: usize>(tokens: &[u64], out: &mut Vec<u64>) {
    let count = tokens.len() - N + 1;
    let at = out.len();
    out.resize(at + count, 0);
    for (window, slot) in tokens.windows(N).zip(&mut out[at..]) {
        let mut sum = 0u64;
        for (i, token) in window.iter().enumerate() {
            sum = sum.wrapping_add(token.rotate_left(ROTATION * i as u32));
        }
        *slot = finish(sum);
    }
}

/// Hash of a character shingle's bytes.
#[inline(always)]
pub fn char_shingle(bytes: &[u8]) -> u64 {
    if bytes.len() <= 8 { short_shingle(word_at(bytes), bytes.len()) } else { finish(token_hash(bytes)) }
}

#[inline(always)]
fn short_shingle(word: u64, len: usize) -> u64 {
    finish(word.wrapping_mul(K1).wrapping_add(K3.wrapping_mul(len as u64)))
}

/// Appends the hashes of all runs of `size` bytes of an ASCII text that has at least `size` bytes.
#[inline(always)]
pub fn ascii_char_shingles(text: &[u8], size: usize, out: &mut Vec<u64>) {
    if size > 8 {
        out.extend(text.windows(size).map(char_shingle));
        return;
    }
    let mask = low_bytes(size);
    let whole = text.len().saturating_sub(7);
    out.reserve(text.len());
    out.extend(text.windows(8).map(|window| short_shingle(word_at(window) & mask, size)));
    out.extend(text[whole..].windows(size).map(|window| short_shingle(word_at(window), size)));
}

/// Hash of a value of a value set, from its canonical bytes: `s` and UTF-8 for a string, `i` and decimal for an integer.
pub fn value_hash(canonical: &[u8]) -> u64 {
    finish(token_hash(canonical))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_loads_give_the_same_token_hash_as_slices() {
        let text: Vec<u8> = (1..=100).collect();
        for len in 1..=PADDING {
            // SAFETY: 100 bytes are there, 16 are used.
            let padded = short_token_hash(unsafe { load_token(text.as_ptr(), len) }, len);
            assert_eq!(padded, token_hash(&text[..len]), "length {len}");
        }
    }

    #[test]
    fn ascii_windows_equal_windows_hashed_one_by_one() {
        let text = b"a quick brown fox jumps";
        for size in 1..=12 {
            let mut fast = Vec::new();
            ascii_char_shingles(text, size, &mut fast);
            let plain: Vec<u64> = text.windows(size).map(char_shingle).collect();
            assert_eq!(fast, plain, "size {size}");
            for len in size..20 {
                fast.clear();
                ascii_char_shingles(&text[..len], size, &mut fast);
                assert_eq!(fast.len(), len - size + 1);
            }
        }
    }

    #[test]
    fn fixed_sizes_equal_the_general_formula() {
        let tokens: Vec<u64> = (0..20).map(|i| token_hash(&[i; 3])).collect();
        for size in 1..9 {
            let mut fast = Vec::new();
            word_shingles(&tokens, size, &mut fast);
            assert_eq!(fast, tokens.windows(size).map(word_shingle).collect::<Vec<_>>());
        }
    }
}

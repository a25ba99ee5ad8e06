//! Hashes of tokens, shingles and values.
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

#[inline(never)]
fn continue_long(h: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes[16..].as_chunks();
    let next = |h, word| mum(h ^ K2, word ^ K4);
    let h = words.iter().fold(h, |h, word| next(h, u64::from_le_bytes(*word)));
    if rest.is_empty() { h } else { next(h, word_at(rest)) }
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
    out.reserve(count);
    for (window, slot) in tokens.windows(N).zip(out.spare_capacity_mut()) {
        let mut sum = 0u64;
        for (i, token) in window.iter().enumerate() {
            sum = sum.wrapping_add(token.rotate_left(ROTATION * i as u32));
        }
        slot.write(finish(sum));
    }
    // SAFETY: there was space for `count` hashes, and as many were written.
    unsafe { out.set_len(out.len() + count) };
}

/// Hash of a character shingle's bytes.
#[inline(always)]
pub fn char_shingle(bytes: &[u8]) -> u64 {
    if bytes.len() <= 8 { short_shingle(word_at(bytes), bytes.len()) } else { finish(token_hash(bytes)) }
}

/// Hash of a character shingle of at most 8 bytes, from these as a number.
#[inline(always)]
pub(super) fn short_shingle(word: u64, len: usize) -> u64 {
    finish(word.wrapping_mul(K1).wrapping_add(K3.wrapping_mul(len as u64)))
}

/// [`char_shingle`] of `len` bytes at `start`.
///
/// # Safety
/// `len` bytes from `start` must be readable, and [`PADDING`] if they are fewer.
#[inline(always)]
pub(super) unsafe fn padded_char_shingle(start: *const u8, len: usize) -> u64 {
    // SAFETY: the caller vouches for it.
    unsafe {
        if len <= 8 {
            return short_shingle(load_token(start, len).0, len);
        }
        let h = first_sixteen_at(start, len);
        finish(if len > PADDING { continue_long(h, std::slice::from_raw_parts(start, len)) } else { h })
    }
}

/// # Safety
/// As for [`padded_char_shingle`].
#[inline(always)]
unsafe fn first_sixteen_at(start: *const u8, len: usize) -> u64 {
    // SAFETY: the caller vouches for it.
    let (a, b) = unsafe { load_token(start, len) };
    first_sixteen(a, b, len)
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
    fn padded_shingles_are_those_of_slices() {
        let text: Vec<u8> = (1..=100).collect();
        for len in 1..=40 {
            // SAFETY: 100 bytes are there, 40 are used.
            assert_eq!(unsafe { padded_char_shingle(text.as_ptr(), len) }, char_shingle(&text[..len]), "length {len}");
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

//! Decodes JSON strings.

use super::kernel::Kernel;
use super::portable::Portable;
use super::usable;
#[cfg(target_arch = "x86_64")]
use super::{avx2::Avx2, avx512::Avx512};
use crate::isa::Isa;

/// Space after the decoded text, so that kernels may load whole vectors from it.
const SPARE: usize = 64;

/// Replaces the content of `out` by the text of a JSON string, given by the bytes between its quotes.
///
/// The string must be one that [`super::scan`] accepted; in others an invalid escape loses its backslash. A surrogate
/// pair becomes one character, a lone surrogate becomes U+FFFD. At least 64 bytes of capacity stay free behind the
/// text, and the text is never longer than `raw`.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>, isa: Isa) {
    match usable(isa) {
        // SAFETY: `usable` lets through only what the machine offers.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { unescape_with::<Avx512>(raw, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { unescape_with::<Avx2>(raw, out) },
        _ => unescape_portable(raw, out),
    }
}

/// [`unescape`] for short strings, without the choice of a kernel.
pub(super) fn unescape_portable(raw: &[u8], out: &mut Vec<u8>) {
    // SAFETY: plain Rust runs everywhere.
    unsafe { unescape_with::<Portable>(raw, out) }
}

/// # Safety
/// The machine must have the instruction set of `K`.
unsafe fn unescape_with<K: Kernel>(raw: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.reserve(raw.len() + SPARE);
    // SAFETY: there is space for raw.len() + 64 bytes, and the kernel fills the first `len`.
    unsafe {
        let len = K::unescape(raw, out.as_mut_ptr());
        out.set_len(len);
    }
}

/// Copying text up to the next escape, for [`decode`].
pub(super) trait CopyRun {
    /// Copies `raw[at..]` up to the first backslash to `out`, and returns the number of bytes copied.
    ///
    /// # Safety
    /// The instruction set must be there; `at <= raw.len()`; `out` takes `raw.len() - at` bytes, which may all be
    /// overwritten.
    unsafe fn copy_run(raw: &[u8], at: usize, out: *mut u8) -> usize;
}

/// Writes the decoded string to `out` and returns its length, at most `raw.len()`.
///
/// # Safety
/// The machine must have the instruction set of `K`; `out` takes `raw.len() + 64` bytes.
#[inline(always)]
pub(super) unsafe fn decode<K: CopyRun>(raw: &[u8], out: *mut u8) -> usize {
    let (mut at, mut len) = (0, 0);
    loop {
        // SAFETY: no escape is shorter than what it stands for, so len <= at <= raw.len().
        let run = unsafe { K::copy_run(raw, at, out.add(len)) };
        at += run;
        len += run;
        if at == raw.len() {
            return len;
        }
        // `raw[at]` is a backslash. The loop stays here while escape follows escape.
        while raw.get(at) == Some(&b'\\') {
            let (text, text_len, taken) = escape(&raw[at..]);
            // SAFETY: text_len <= taken <= raw.len() - at, and 4 bytes fit where 64 are spare.
            unsafe { out.add(len).cast::<[u8; 4]>().write(text) };
            at += taken;
            len += text_len;
        }
    }
}

/// Decodes the escape at the start of `raw`: its UTF-8 bytes, how many of the four count, and the escape's length.
#[inline(always)]
pub(super) fn escape(raw: &[u8]) -> ([u8; 4], usize, usize) {
    let letter = raw.get(1).copied().unwrap_or(0);
    if letter == b'u' {
        return unicode_escape(raw);
    }
    match SIMPLE[letter as usize] {
        0 => ([0; 4], 0, 1),
        byte => ([byte, 0, 0, 0], 1, 2),
    }
}

#[inline(always)]
fn unicode_escape(raw: &[u8]) -> ([u8; 4], usize, usize) {
    let Some(unit) = raw.get(2..).and_then(hex4) else {
        return ([0; 4], 0, 1);
    };
    let (code, taken) = match low_surrogate(unit, raw) {
        Some(low) => (0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), 12),
        None => (unit, 6),
    };
    let mut text = [0; 4];
    let len = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut text).len();
    (text, len, taken)
}

/// The second half of the surrogate pair that starts with `unit`, the escape at the start of `raw`.
#[inline(always)]
fn low_surrogate(unit: u32, raw: &[u8]) -> Option<u32> {
    if !(0xD800..0xDC00).contains(&unit) {
        return None;
    }
    let low = raw.get(6..)?.strip_prefix(b"\\u").and_then(hex4)?;
    (0xDC00..0xE000).contains(&low).then_some(low)
}

/// The number that the first four bytes give as hexadecimal digits.
#[inline(always)]
pub(super) fn hex4(digits: &[u8]) -> Option<u32> {
    let &[a, b, c, d] = digits.first_chunk()?;
    let digit = |byte: u8| u32::from(DIGITS[byte as usize]);
    let number = digit(a) << 12 | digit(b) << 8 | digit(c) << 4 | digit(d);
    ((digit(a) | digit(b) | digit(c) | digit(d)) < 16).then_some(number)
}

/// Hexadecimal digits; 255 where a byte is none.
const DIGITS: [u8; 256] = {
    let mut table = [255; 256];
    let mut digit = 0;
    while digit < 16 {
        table[b"0123456789abcdef"[digit] as usize] = digit as u8;
        table[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
};

/// The character of a simple escape by the letter after the backslash; 0 for other letters.
pub(super) static SIMPLE: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 8 {
        table[b"\"\\/bfnrt"[index] as usize] = b"\"\\/\x08\x0C\n\r\t"[index];
        index += 1;
    }
    table
};

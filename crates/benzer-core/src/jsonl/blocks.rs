//! Finds the end of a string and checks its escapes, 64 bytes at a time, in masks of one bit per byte.

use super::kernel::StringEnd;

/// 64 bytes in vector registers. The first byte is the lowest bit of each mask.
pub(super) trait Block: Copy {
    /// Loads 64 bytes.
    ///
    /// # Safety
    /// The machine has the instruction set of the vectors, and 64 bytes can be read at `bytes`.
    unsafe fn load(bytes: *const u8) -> Self;

    /// The bytes that equal `byte`.
    ///
    /// # Safety
    /// The machine has the instruction set of the vectors.
    unsafe fn equal(self, byte: u8) -> u64;

    /// The bytes below 0x20.
    ///
    /// # Safety
    /// The machine has the instruction set of the vectors.
    unsafe fn controls(self) -> u64;

    /// The letters that may follow a backslash, `u` among them.
    ///
    /// # Safety
    /// The machine has the instruction set of the vectors.
    unsafe fn escape_letters(self) -> u64;

    /// The hexadecimal digits.
    ///
    /// # Safety
    /// The machine has the instruction set of the vectors.
    unsafe fn hex_digits(self) -> u64;
}

/// The columns of [`LOW_NIBBLE`] and [`HIGH_NIBBLE`]: a byte may follow a backslash if its two entries share a bit.
/// The bits stand for the high nibbles 2, 5, 6 and 7.
#[rustfmt::skip]
pub(super) static LOW_NIBBLE: [u8; 16] =
    [0, 0, 0b1101, 0, 0b1000, 0b1000, 0b0100, 0, 0, 0, 0, 0, 0b0010, 0, 0b0100, 0b0001];
/// See [`LOW_NIBBLE`].
pub(super) static HIGH_NIBBLE: [u8; 16] = [0, 0, 0b0001, 0, 0, 0b0010, 0b0100, 0b1000, 0, 0, 0, 0, 0, 0, 0, 0];

/// The state that one block passes to the next.
#[derive(Clone, Copy, Default)]
struct Carry {
    /// 1 if the first byte follows a backslash.
    escaped: u64,
    /// The first bytes that must be hexadecimal digits.
    digits: u64,
}

/// [`super::kernel::Kernel::string_end`] by blocks of type `B`.
///
/// # Safety
/// The machine must have the instruction set of `B`; `start <= data.len()`.
#[inline(always)]
pub(super) unsafe fn string_end<B: Block>(data: &[u8], start: usize) -> Option<StringEnd> {
    let mut at = start;
    let mut escaped = false;
    let mut carry = Carry::default();
    while data.len() - at >= 64 {
        // SAFETY: 64 bytes are left; the caller vouches for the instruction set.
        let (block, quotes, backslashes, controls) = unsafe {
            let block = B::load(data.as_ptr().add(at));
            (block, block.equal(b'"'), block.equal(b'\\'), block.controls())
        };
        let (quotes, faults) = if backslashes | carry.escaped | carry.digits == 0 {
            (quotes, controls)
        } else {
            // SAFETY: the caller vouches for the instruction set.
            let (in_escapes, bad_escapes) = unsafe { check_escapes(block, backslashes, &mut carry) };
            (quotes & !in_escapes, controls | bad_escapes)
        };
        // All bits up to and with the closing quote, or all 64.
        let inside = quotes ^ quotes.wrapping_sub(1);
        if faults & inside != 0 {
            return None;
        }
        escaped |= backslashes & inside != 0;
        if quotes != 0 {
            return Some(StringEnd { at: at + quotes.trailing_zeros() as usize, escaped });
        }
        at += 64;
    }
    None
}

/// The bytes that follow the backslash of an escape, and the bytes at which an escape is unsound.
///
/// # Safety
/// The machine must have the instruction set of `B`.
#[inline(always)]
unsafe fn check_escapes<B: Block>(block: B, backslashes: u64, carry: &mut Carry) -> (u64, u64) {
    let (leads, letters) = escapes(backslashes, carry.escaped);
    // SAFETY: the caller vouches for the instruction set.
    let (allowed, units) = unsafe { (block.escape_letters(), block.equal(b'u') & letters) };
    let digits = units << 1 | units << 2 | units << 3 | units << 4 | carry.digits;
    carry.escaped = leads >> 63;
    carry.digits = units >> 63 | units >> 62 | units >> 61 | units >> 60;
    let mut bad = letters & !allowed;
    if digits != 0 {
        // SAFETY: as above.
        bad |= digits & !unsafe { block.hex_digits() };
    }
    (letters, bad)
}

/// Splits runs of backslashes: those that start an escape, and the bytes (of any kind) that follow one of these.
/// `carry` is 1 if the byte before the block starts an escape.
///
/// Subtraction lets each run flip its bits in turn, as in simdjson (Langdale and Lemire, arXiv 1902.08318).
#[inline(always)]
pub(super) fn escapes(backslashes: u64, carry: u64) -> (u64, u64) {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let candidates = backslashes & !carry;
    let flipped = ((candidates << 1 | ODD).wrapping_sub(candidates)) ^ ODD;
    let letters = flipped ^ (backslashes | carry);
    (flipped & backslashes, letters)
}

//! The functions of the scanner that each instruction set implements.

use super::Value;
use super::cursor::Cursor;
use super::fault::Fault;

/// The byte searches of one instruction set. `string_end` is inlined into `line`, which switches that set on.
///
/// No function reads outside the slice it is given.
pub(super) trait Kernel: Sized {
    /// The end of the string whose first byte (after the quote) is at `start`. None where that takes a closer look:
    /// near the end of the data, and in faulty strings.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn string_end(data: &[u8], start: usize) -> Option<StringEnd>;

    /// Reads one line: [`Cursor::line`].
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn line(cursor: &mut Cursor<'_, Self>, values: &mut [Value]) -> Result<bool, Fault>;

    /// Decodes a string as [`super::unescape`] says, and returns the length of the text, at most `raw.len()`.
    ///
    /// # Safety
    /// The machine has the instruction set; `out` takes `raw.len() + 64` bytes, which may all be overwritten.
    unsafe fn unescape(raw: &[u8], out: *mut u8) -> usize;
}

/// Where a sound string ends.
#[derive(Clone, Copy)]
pub(super) struct StringEnd {
    /// Offset of the closing quote.
    pub(super) at: usize,
    pub(super) escaped: bool,
}

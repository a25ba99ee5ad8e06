//! Bytes with more readable bytes after them, so that a kernel may load whole vectors at their end.

use std::ops::Range;

/// Bytes after the text that may be read.
pub const SLACK: usize = 64;

/// A text with at least [`SLACK`] readable bytes after it.
#[derive(Clone, Copy)]
pub struct Padded<'a> {
    /// The text and what follows it: pointers into the text must be allowed to read that, too.
    all: &'a [u8],
    len: usize,
}

impl<'a> Padded<'a> {
    /// The first `len` bytes of `all`.
    ///
    /// # Panics
    /// If fewer than [`SLACK`] bytes follow them.
    #[inline(always)]
    pub fn new(all: &'a [u8], len: usize) -> Self {
        assert!(all.len() >= SLACK && len <= all.len() - SLACK, "readable bytes follow a padded text");
        Padded { all, len }
    }

    /// The text alone.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        &self.all[..self.len]
    }

    /// A pointer to the text; `len() + SLACK` bytes can be read from it.
    #[inline(always)]
    pub fn as_ptr(self) -> *const u8 {
        self.all.as_ptr()
    }

    /// The length of the text.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether the text is empty.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// A stretch of the text.
    #[inline(always)]
    pub fn get(self, range: Range<usize>) -> &'a [u8] {
        &self.bytes()[range]
    }
}

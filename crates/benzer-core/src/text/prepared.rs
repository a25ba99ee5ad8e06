//! Converts a text to the bytes to hash, in one pass.
//!
//! ASCII is mapped by a table of 128 bytes, a vector at a time. Other code points are mapped one by one
//! ([`super::alone`]), and most of them keep their number of bytes. Those that may compose or be reordered with their
//! neighbours are normalized together, by the definition.
//!
//! A text of words becomes its tokens with spaces around them; a text of characters becomes the result of
//! [`Recipe::squeeze`].

use super::alone::{Alone, Entry, Kind, character, word_part};
use super::lookup;
use super::recipe::{Recipe, Unit};
use crate::hash::padded::Padded;
use crate::isa::Level;
use unicode_normalization::char::compose;

/// Bytes that may be read past the end of what was prepared; also those that a kernel may write too far.
pub const SLACK: usize = 128;
/// The maximum number of result bytes per byte without the definition: a space and 4 bytes for 2.
const GROWTH: usize = 3;
/// Bytes from which on a buffer is large.
const LARGE: usize = 16 << 20;
/// The position of no code point.
const NOWHERE: usize = usize::MAX;

/// The text cannot be read in parts: its lower case depends on more than its neighbours.
#[derive(Debug)]
pub struct NeedsContext;

/// The text read last, as it is hashed; its buffers are used again.
#[derive(Default)]
pub struct Prepared {
    /// A space, and the prepared bytes; all of it is initialized.
    bytes: Vec<u8>,
    len: usize,
    /// The text to squeeze.
    mapped: Vec<u8>,
    normal: String,
}

impl Prepared {
    /// The prepared bytes.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[1..self.len]
    }

    /// The prepared bytes, with the spaces after them.
    #[inline(always)]
    pub fn padded(&self) -> Padded<'_> {
        Padded::new(&self.bytes[1..], self.len - 1)
    }

    /// Takes `text` as it is.
    pub fn take(&mut self, text: &str) {
        self.start(text.len());
        self.len = 1 + text.len();
        self.bytes[1..self.len].copy_from_slice(text.as_bytes());
        self.close();
    }

    /// Reads `text` by the recipe of `alone`; on failure nothing is prepared.
    #[inline(always)]
    pub fn read<L: Level>(&mut self, recipe: &Recipe, alone: &Alone, text: &str) -> Result<(), NeedsContext> {
        let squeezes = recipe.unit == Unit::Char && !recipe.keep_whitespace;
        // A long text without a cut may be a blob of ASCII, and each of its bytes becomes one byte.
        let in_place = text.len() > LARGE && text.is_ascii();
        self.start_in(if in_place { 1 + text.len() } else { 1 + GROWTH * text.len() });
        if squeezes && text.is_ascii() {
            self.squeeze::<L>(text.as_bytes(), alone);
        } else {
            self.map::<L>(recipe, alone, text)?;
            if squeezes {
                std::mem::swap(&mut self.bytes, &mut self.mapped);
                let mapped = std::mem::take(&mut self.mapped);
                let len = self.len;
                self.start(len);
                self.squeeze::<L>(&mapped[1..len], alone);
                self.mapped = mapped;
            }
        }
        self.close();
        Ok(())
    }

    /// Reads all of `text`; blanks stay side by side.
    #[inline(always)]
    fn map<L: Level>(&mut self, recipe: &Recipe, alone: &Alone, text: &str) -> Result<(), NeedsContext> {
        let mut at = 0;
        loop {
            // SAFETY: `start` and `Writer::stretch` reserved space for GROWTH bytes for each byte that is left, and
            // SLACK; the level is one that the machine offers, as its caller was compiled for it.
            let done = unsafe {
                let out = self.bytes.as_mut_ptr().add(self.len);
                lookup::map::<L>(&text.as_bytes()[at..], alone, out)
            };
            at += done;
            self.len += done;
            if at == text.len() {
                return Ok(());
            }
            at = Writer::new(self, recipe, alone, text).read_on(at)?;
        }
    }

    /// Appends `text`, mapped or not, with one space for each run of them, and none at either end.
    #[inline(always)]
    fn squeeze<L: Level>(&mut self, text: &[u8], alone: &Alone) {
        // SAFETY: `start` reserved space for the text and SLACK; a space is before it.
        self.len += unsafe { lookup::squeeze::<L>(text, &alone.ascii, self.bytes.as_mut_ptr().add(self.len)) };
        self.len -= usize::from(self.len > 1 && self.bytes[self.len - 1] == b' ');
    }

    fn start(&mut self, len: usize) {
        self.start_in(1 + GROWTH * len);
    }

    /// Starts again, with space for `room` bytes.
    #[inline(always)]
    fn start_in(&mut self, room: usize) {
        self.make_room(room, 0);
        self.bytes[0] = b' ';
        self.len = 1;
    }

    /// Reserves space for the result of `left` bytes of the text after `len` bytes.
    #[inline(always)]
    fn make_room(&mut self, len: usize, left: usize) {
        let room = len + GROWTH * left + 2 * SLACK;
        if self.bytes.len() < room {
            // Small buffers grow by doubling; large ones, which are rare, to what they need.
            self.bytes.resize(if room < LARGE { room.next_power_of_two() } else { room }, 0);
        }
    }

    fn close(&mut self) {
        self.bytes[self.len..self.len + SLACK].fill(b' ');
    }
}

/// Where the last code point stands from which on the text can be read again, and what was prepared before it.
#[derive(Clone, Copy)]
struct Start {
    at: usize,
    len: usize,
    own: bool,
}

/// Reads the parts of a text that cannot be mapped in place.
struct Writer<'a> {
    out: &'a mut Prepared,
    recipe: &'a Recipe,
    alone: &'a Alone,
    text: &'a str,
    words: bool,
    /// Whether a token of its own has just been written, which the next letter does not belong to.
    own: bool,
    start: Start,
    /// The code point before, and where it stands.
    previous: (char, usize),
    /// The combining class of the end of what was prepared.
    order: u8,
}

impl<'a> Writer<'a> {
    #[inline(always)]
    fn new(out: &'a mut Prepared, recipe: &'a Recipe, alone: &'a Alone, text: &'a str) -> Self {
        let start = Start { at: 0, len: out.len, own: false };
        let words = recipe.unit == Unit::Word;
        Writer { out, recipe, alone, text, words, own: false, start, previous: ('\0', NOWHERE), order: 0 }
    }

    /// Reads on from the code point at `at`, before which all was mapped in place, to where the next can be; returns that
    /// place.
    #[inline(never)]
    fn read_on(&mut self, mut at: usize) -> Result<usize, NeedsContext> {
        let text = self.text.as_bytes();
        if let Some(c) = self.text[..at].chars().next_back() {
            self.start = Start { at: at - c.len_utf8(), len: self.out.len - c.len_utf8(), own: false };
            self.previous = (c, self.start.at);
            self.order = self.alone.entry(c as u32).order();
        }
        while at < text.len() {
            let (len, code) = decode(text, at);
            let entry = self.alone.entry(code);
            match entry.kind() {
                Kind::Plain | Kind::Blank | Kind::Own | Kind::Attached => {
                    self.start = Start { at, len: self.out.len, own: self.own };
                    self.previous = (char::from_u32(code).unwrap_or('\0'), at);
                    self.order = entry.order();
                    self.write(entry);
                    at += len;
                }
                Kind::Mark if entry.order() >= self.order => {
                    self.order = entry.order();
                    self.previous.1 = NOWHERE;
                    self.write(entry);
                    at += len;
                }
                Kind::Second if self.second(char::from_u32(code).unwrap_or('\0'), entry, at) => at += len,
                _ => at = self.stretch(entry, at)?,
            }
            if self.maps_again(at) {
                break;
            }
        }
        if self.own {
            self.push(b' ');
        }
        Ok(at)
    }

    /// Whether two code points follow that can be mapped in place: one alone is read here.
    #[inline(always)]
    fn maps_again(&self, at: usize) -> bool {
        let text = self.text.as_bytes();
        if at >= text.len() {
            return true;
        }
        let (len, code) = decode(text, at);
        if !self.alone.entry(code).is_in_place() {
            return false;
        }
        at + len >= text.len() || self.alone.entry(decode(text, at + len).1).is_in_place()
    }

    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.out.bytes[self.out.len] = byte;
        self.out.len += 1;
    }

    #[inline(always)]
    fn after_space(&self) -> bool {
        self.out.bytes[self.out.len - 1] == b' '
    }

    #[inline(always)]
    fn write(&mut self, entry: Entry) {
        self.put(entry.kind(), entry.bytes(), entry.used());
    }

    #[inline(always)]
    fn put(&mut self, kind: Kind, bytes: [u8; 4], len: usize) {
        match kind {
            Kind::Blank => {
                self.own = false;
                self.push(b' ');
            }
            Kind::Own => {
                if !self.after_space() {
                    self.push(b' ');
                }
                self.copy(bytes, len);
                self.own = true;
            }
            Kind::Plain => {
                if self.own && len > 0 {
                    self.push(b' ');
                    self.own = false;
                }
                self.copy(bytes, len);
            }
            _ => {
                let belongs = !self.words || !self.after_space();
                self.copy(bytes, if belongs { len } else { 0 });
            }
        }
    }

    #[inline(always)]
    fn copy(&mut self, bytes: [u8; 4], len: usize) {
        let at = self.out.len;
        self.out.bytes[at..at + 4].copy_from_slice(&bytes);
        self.out.len += len;
    }

    /// Writes a code point of the normalized text.
    fn put_char(&mut self, c: char) {
        let (kind, c) = match self.recipe.unit {
            Unit::Word => (word_part(self.recipe, c), c),
            Unit::Char => character(self.recipe, c).map_or((Kind::Blank, ' '), |c| (Kind::Plain, c)),
        };
        let mut bytes = [0; 4];
        let len = c.encode_utf8(&mut bytes).len();
        self.put(kind, bytes, len);
    }

    /// Reads a code point that may compose with the one before it, if these two determine the result; otherwise
    /// returns false.
    fn second(&mut self, c: char, entry: Entry, at: usize) -> bool {
        let (before, place) = self.previous;
        if place != self.start.at || place == NOWHERE {
            return false;
        }
        if let Some(both) = compose(before, c) {
            // By definition the text is equivalent with the composed code point instead of the two.
            let composed = self.alone.entry(both as u32);
            if composed.joins() || matches!(composed.kind(), Kind::Complex | Kind::Context) {
                return false;
            }
            self.rewind();
            self.previous.0 = both;
            self.order = composed.order();
            self.write(composed);
            return true;
        }
        let first = self.alone.entry(before as u32);
        if !first.is_atomic() || char_of(first).is_some_and(|folded| compose(folded, c).is_some()) {
            return false;
        }
        if entry.order() == 0 {
            self.start = Start { at, len: self.out.len, own: self.own };
        }
        self.previous = (c, if entry.order() == 0 { at } else { NOWHERE });
        self.order = entry.order();
        self.put_char(c);
        true
    }

    fn rewind(&mut self) {
        self.out.len = self.start.len;
        self.own = self.start.own;
    }

    /// Normalizes the code point at `at` with all that combine with it, by the definition; returns where they end.
    #[inline(never)]
    fn stretch(&mut self, entry: Entry, at: usize) -> Result<usize, NeedsContext> {
        let text = self.text.as_bytes();
        let mut from = at;
        if entry.joins() {
            from = self.start.at;
            self.rewind();
        }
        let mut end = at;
        let mut next = entry;
        loop {
            if next.kind() == Kind::Context {
                return Err(NeedsContext);
            }
            end += decode(text, end).0;
            if end >= text.len() {
                break;
            }
            next = self.alone.entry(decode(text, end).1);
            if !next.joins() {
                break;
            }
        }
        let mut normal = std::mem::take(&mut self.out.normal);
        self.recipe.normalize(&self.text[from..end], &mut normal);
        self.out.make_room(self.out.len + 2 * normal.len(), text.len() - end);
        normal.chars().for_each(|c| self.put_char(c));
        self.out.normal = normal;
        self.previous.1 = NOWHERE;
        Ok(end)
    }
}

/// The one code point that an entry stands for, if it does.
fn char_of(entry: Entry) -> Option<char> {
    let bytes = entry.bytes();
    std::str::from_utf8(&bytes[..entry.used()]).ok()?.chars().next()
}

/// Length and code point of the character at `at`.
#[inline(always)]
pub(super) fn decode(text: &[u8], at: usize) -> (usize, u32) {
    let byte = |i: usize| u32::from(text.get(at + i).copied().unwrap_or(0) & 0x3F);
    match text[at] {
        lead @ 0xF0.. => (4, (u32::from(lead & 7) << 18) | byte(1) << 12 | byte(2) << 6 | byte(3)),
        lead @ 0xE0.. => (3, (u32::from(lead & 15) << 12) | byte(1) << 6 | byte(2)),
        lead @ 0x80.. => (2, (u32::from(lead & 31) << 6) | byte(1)),
        ascii => (1, u32::from(ascii)),
    }
}

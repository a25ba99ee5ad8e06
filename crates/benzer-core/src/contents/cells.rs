//! The elements of an image that is described by a level for each cell of a grid.
//!
//! The description is a tag of two bytes, then 4 bits for each cell, row by row; the first of two cells is the low half
//! of its byte. The tag names the image method.

use crate::hash::shingle::char_shingle;

/// Cells of an image.
const CELLS: usize = 256;

/// Numbers that the elements of one cell may have.
const STEP: u32 = 16;

/// The meaning of the elements of a described image.
#[derive(Clone, Copy)]
enum Method {
    /// "G1": a twelfth of the ranking by brightness; a cell has two elements, and an image without detail has none.
    Ranks,
    /// "S1": a sixteenth of the grey values; a cell has one element.
    Greys,
}

/// Levels of the method "grid".
const TWELFTHS: u8 = 12;

/// The numbers of the elements of a description, distinct, in its order; none if it is damaged.
pub fn codes(description: &[u8]) -> Option<Vec<u32>> {
    let (tag, cells) = description.split_first_chunk::<2>()?;
    let method = match tag {
        b"G1" => Method::Ranks,
        b"S1" => Method::Greys,
        _ => return None,
    };
    let whole = cells.len() == CELLS / 2 || (cells.is_empty() && matches!(method, Method::Ranks));
    let levels = || cells.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    let numbered =
        || levels().zip((0..).step_by(STEP as usize)).map(|(level, cell): (u8, u32)| (cell, u32::from(level)));
    match method {
        _ if !whole => None,
        Method::Greys => Some(numbered().map(|(cell, level)| cell + level).collect()),
        Method::Ranks if levels().any(|level| level >= TWELFTHS) => None,
        Method::Ranks => {
            let sixths = numbered().map(|(cell, level)| cell + level / 2);
            // The same with the limits moved by half a sixth: a cell near a limit keeps one of its two elements.
            let moved = numbered().map(|(cell, level)| cell + level.div_ceil(2) + 8);
            Some(sixths.chain(moved).collect())
        }
    }
}

/// The hash of an element: that of a character shingle of its number in 8 bytes.
pub fn code_hash(code: u32) -> u64 {
    char_shingle(&u64::from(code).to_le_bytes())
}

/// Replaces the content of `out` by the hashes of the elements; none if the description is damaged.
pub fn read(description: &[u8], out: &mut Vec<u64>) -> Option<()> {
    out.clear();
    out.extend(codes(description)?.into_iter().map(code_hash));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_a_sixth_and_a_moved_sixth_or_a_grey() {
        let ranks = codes(&[&b"G1"[..], &[0xB0; CELLS / 2]].concat()).unwrap();
        assert_eq!((ranks.len(), &ranks[..2], &ranks[256..258]), (512, &[0, 21][..], &[8, 30][..]));
        let greys = codes(&[&b"S1"[..], &[0xF1; CELLS / 2]].concat()).unwrap();
        assert_eq!((greys.len(), &greys[..2]), (256, &[1, 31][..]));
        assert_eq!(codes(b"G1"), Some(Vec::new()));
    }

    #[test]
    fn damaged_descriptions_are_refused() {
        let long = [0xC0; CELLS / 2];
        for damaged in [&b"G"[..], b"S1", b"L1", b"G1abc", &[&b"G1"[..], &long].concat()] {
            assert_eq!(codes(damaged), None);
        }
    }
}

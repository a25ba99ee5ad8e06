//! k-mins: slot j is the smallest value of the set under the j-th random function (A. Broder 1997).
//!
//! The functions are of any family of [`crate::hash::families`]; values of more than 32 bits lose their lowest ones.
//! Plain loops: every compiler level makes good vector code of them.

use super::fast::LARGEST;
use super::{Content, EMPTY, LANES, Scratch, make_room, whole_blocks};
use crate::hash::families::{Function, Functions, Visitor};
use crate::hash::mix::Mixer;

/// The signature of `hashes`. It takes time in proportion to hashes times functions.
#[inline(always)]
pub(super) fn sketch(
    mixer: Mixer, functions: &Functions, hashes: &[u64], scratch: &mut Scratch, out: &mut [u32],
) -> Content {
    if hashes.is_empty() {
        out.fill(EMPTY);
        return Content::default();
    }
    make_room(&mut scratch.mixed, hashes.len().next_multiple_of(LANES));
    let mut content = Content::default();
    for (&hash, kept) in hashes.iter().zip(&mut scratch.mixed) {
        *kept = mixer.mix(hash);
        content.add(hash, *kept);
    }
    if functions.mixer().is_none() {
        scratch.mixed[..hashes.len()].copy_from_slice(hashes);
    }
    let elements = whole_blocks(&mut scratch.mixed, hashes.len()).as_flattened();
    functions.visit(Minima { elements, out });
    content
}

/// The smallest value of the elements for each function.
struct Minima<'a> {
    elements: &'a [u64],
    out: &'a mut [u32],
}

impl Visitor for Minima<'_> {
    type Output = ();

    #[inline(always)]
    fn visit<F: Function>(self, functions: &[F]) {
        for (function, slot) in functions.iter().zip(self.out) {
            let least = self.elements.iter().fold(u32::MAX, |least, &x| least.min(function.high(x)));
            *slot = least.min(LARGEST);
        }
    }
}

//! Tokens and shingles of a text.
//!
//! [`recipe`] contains the settings of a text and defines its processing. [`reader`] computes the shingle hashes, on
//! a fast path if one exists, with the same result as that definition: [`prepared`] writes the bytes to hash
//! ([`lookup`] for ASCII, [`alone`] for other code points), and [`runs`] finds the tokens in them. [`parts`] reads
//! long texts in parts. [`elements`] computes other elements. [`offsets`] returns the position of each unit in the
//! original. [`class`] and [`tables`] describe the code points.

pub mod alone;
pub mod class;
pub mod elements;
mod lookup;
pub mod offsets;
mod parts;
pub mod prepared;
pub mod reader;
pub mod recipe;
pub mod runs;
mod tables;
#[cfg(test)]
mod tests;

pub use parts::Size;
pub use reader::{Reader, Scratch};
pub use recipe::{Case, Form, Recipe, Tokenizer, Unit};
pub use tables::UNICODE_VERSION;

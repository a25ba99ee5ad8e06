//! What are the tokens and shingles of a text?
//!
//! [`recipe`] says how a text is read and defines it; [`reader`] gives the shingle hashes, on a fast path where one
//! exists, equal to that definition: [`prepared`] writes the bytes that are hashed ([`lookup`] those of ASCII, [`alone`]
//! knows those of each other code point), [`runs`] finds the tokens among them. [`parts`] reads long texts piecewise.
//! [`elements`] gives other numbers where
//! they are asked for; [`offsets`] says where in the original each unit stands; [`class`] and [`tables`] know the code
//! points.

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

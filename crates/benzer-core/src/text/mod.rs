//! What are the tokens and shingles of a text?
//!
//! [`recipe`] says how a text is read and defines it; [`reader`] gives the shingle hashes, on a fast path where one
//! exists, equal to that definition; [`elements`] gives other numbers where they are asked for; [`offsets`] says where in
//! the original each unit stands; [`runs`] finds words; [`class`] and [`tables`] know the code points.

pub mod class;
pub mod elements;
pub mod offsets;
pub mod reader;
pub mod recipe;
pub mod runs;
mod tables;

pub use reader::{Reader, Scratch};
pub use recipe::{Case, Form, Recipe, Tokenizer, Unit};
pub use tables::UNICODE_VERSION;

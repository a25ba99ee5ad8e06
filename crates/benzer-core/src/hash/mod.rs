//! How do bytes become 64-bit numbers? Constants and mixers are in [`mix`], tokens and shingles in [`shingle`].

pub mod mix;
pub mod shingle;

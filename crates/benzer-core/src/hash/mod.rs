//! How do bytes become numbers? Constants and mixers are in [`mix`], tokens and shingles in [`shingle`], all character
//! shingles of a text in [`windows`], string hashes of the literature in [`strings`], families of hash functions for
//! minima in [`families`], and in [`blake2b`] the one hash that cannot be forged.

pub mod blake2b;
pub mod families;
pub mod mix;
pub mod padded;
pub mod shingle;
pub mod strings;
pub mod windows;

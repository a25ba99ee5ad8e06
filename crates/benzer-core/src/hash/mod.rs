//! Conversion of bytes to numbers. Constants and mixers are in [`mix`], tokens and shingles in [`shingle`], all
//! character shingles of a text in [`windows`], string hashes of the literature in [`strings`], families of hash
//! functions for minima in [`families`], and the only hash that cannot be forged in [`blake2b`].

pub mod blake2b;
pub mod families;
pub mod mix;
pub mod padded;
pub mod shingle;
pub mod strings;
pub mod windows;

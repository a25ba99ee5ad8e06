//! The native core of Benzer: from raw text to verified near-duplicates, in batches, without Python.
//!
//! Rooms, in the order data meets them: [`jsonl`] finds the fields of a row, [`text`] its shingles, [`hash`] their
//! numbers, [`minhash`] sketches the set, [`bands`] files the sketch, [`buckets`] proposes pairs, [`jaccard`] verifies
//! them, [`setjoin`] finds all of them without bands, [`clusters`] decides what stays. [`corpus`] holds the documents;
//! [`postings`] and [`question`] answer for an index; [`isa`] chooses instructions.

pub mod bands;
pub mod buckets;
pub mod clusters;
pub mod corpus;
pub mod evidence;
pub mod hash;
pub mod isa;
pub mod jaccard;
pub mod jsonl;
pub mod minhash;
pub mod nearest;
pub mod postings;
pub mod question;
pub mod setjoin;
pub mod text;
pub mod watch;
pub mod winnow;

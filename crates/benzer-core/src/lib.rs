//! The native core of Benzer: from raw text to verified near-duplicates, in batches, without Python.
//!
//! Modules in the order of the data flow: [`jsonl`] finds the fields of a row, [`text`] its shingles, [`hash`] their
//! hashes, [`minhash`] sketches the set, [`bands`] computes the band keys, [`buckets`] proposes pairs, [`jaccard`]
//! verifies them, [`setjoin`] finds all pairs without bands, [`clusters`] selects the kept documents. [`corpus`]
//! stores the documents; [`contents`] reads what is stored of documents elsewhere, and [`similarity`] defines how
//! similar documents are; [`postings`] and [`question`] process queries of an index; [`isa`] selects instruction sets.

pub mod bands;
pub mod buckets;
pub mod clusters;
pub mod contents;
pub mod corpus;
pub mod evidence;
pub mod hash;
pub mod isa;
pub mod jaccard;
pub mod jsonl;
pub mod lookup;
pub mod minhash;
pub mod nearest;
pub mod postings;
pub mod question;
pub mod setjoin;
pub mod similarity;
pub mod text;
pub mod watch;
pub mod winnow;

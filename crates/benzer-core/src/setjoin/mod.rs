//! All pairs of similar sets.
//!
//! A set-similarity join by prefix filter (Bayardo, Ma and Srikant 2007; Xiao, Wang, Lin and Yu 2008): two sets that
//! reach the threshold share an element among the first few of both, in any order that is the same for all sets.
//! [`bounds`] computes how few, [`order`] puts rare elements first, [`index`] stores the first elements and finds
//! candidates; [`bitmap`] and [`common`] verify them. No pair is lost: recall is 1 by proof, and tests compare the
//! result with that of comparing all pairs.
//!
//! The cost depends on the number of pairs: n identical sets have n² / 2 of them, so callers remove copies first.

mod bitmap;
mod bounds;
mod common;
mod index;
mod join;
mod neighbours;
mod order;
mod scratch;
#[cfg(test)]
mod tests;

pub(crate) use bounds::Threshold;
pub use join::{Join, Pair, Relation, sort};
pub use neighbours::Queries;

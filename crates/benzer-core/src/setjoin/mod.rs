//! Which sets are alike, without exception?
//!
//! A set-similarity join by prefix filter (Bayardo, Ma and Srikant 2007; Xiao, Wang, Lin and Yu 2008): two sets that
//! reach the threshold share an element among the first few of both, in any order that is the same for all sets.
//! [`bounds`] says how few, [`order`] puts rare elements first, [`index`] files the first elements and meets what
//! asks; [`bitmap`] and [`common`] decide. No pair is lost: recall is 1 by proof, and equality with comparing all
//! pairs is tested.
//!
//! Pairs are what it costs: n identical sets make n² / 2 of them, so callers drop copies first.

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

//! Working memory that threads reuse.

use std::sync::{Mutex, PoisonError};

/// Working memory that threads borrow and return: one per thread, for any number of parts.
#[derive(Default)]
pub struct Scratches<T>(Mutex<Vec<T>>);

impl<T: Default> Scratches<T> {
    /// A piece of it, as it was returned.
    pub fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Returns it.
    pub fn give(&self, one: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(one);
    }
}

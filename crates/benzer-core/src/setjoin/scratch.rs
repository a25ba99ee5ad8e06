//! Working memory that threads reuse.

use std::sync::{Mutex, PoisonError};

/// Working memory that threads borrow and give back: as much as threads, whatever the number of parts.
#[derive(Default)]
pub struct Scratches<T>(Mutex<Vec<T>>);

impl<T: Default> Scratches<T> {
    /// Some of it, as it was given back.
    pub fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Gives it back.
    pub fn give(&self, one: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(one);
    }
}

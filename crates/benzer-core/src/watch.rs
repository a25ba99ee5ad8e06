//! Progress and cancellation of long work.
//!
//! A caller that starts work in a thread pool sets a [`Watch`] in each of its threads ([`hang`]). Loops report their
//! progress ([`tick`]) or only check the watch ([`look`]): both take a few nanoseconds. After the work is cancelled
//! ([`Watch::stop`]), the next check unwinds with [`Stopped`] through all running functions. The pool passes it to
//! the waiting caller, who distinguishes it from a panic by its type. So no loop has to return a value for cancelled
//! work.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The payload that a check unwinds with after the work is cancelled.
#[derive(Debug)]
pub struct Stopped;

/// How far a piece of work is, and whether to go on.
#[derive(Debug, Default)]
pub struct Watch {
    stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Watch {
    /// The work is no longer wanted.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// The finished and the total amount of work; the total is 0 if it is unknown.
    pub fn seen(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

thread_local! {
    static WATCH: RefCell<Option<Arc<Watch>>> = const { RefCell::new(None) };
}

/// Sets the watch of this thread, and replaces the previous one.
pub fn hang(watch: Arc<Watch>) {
    WATCH.set(Some(watch));
}

/// Sets the total amount of work, and the finished amount to 0.
pub fn begin(total: usize) {
    with(|watch| {
        watch.done.store(0, Ordering::Relaxed);
        watch.total.store(total as u64, Ordering::Relaxed);
    });
}

/// Says that so much more is done, and unwinds where the work is no longer wanted.
pub fn tick(done: usize) {
    with(|watch| {
        watch.done.fetch_add(done as u64, Ordering::Relaxed);
    });
    look();
}

/// Unwinds where the work is no longer wanted.
pub fn look() {
    if with(|watch| watch.stopped.load(Ordering::Relaxed)) == Some(true) {
        resume_unwind(Box::new(Stopped)); // without the message of a panic
    }
}

fn with<T>(ask: impl FnOnce(&Watch) -> T) -> Option<T> {
    WATCH.with_borrow(|watch| watch.as_deref().map(ask))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn pool(watch: &Arc<Watch>) -> rayon::ThreadPool {
        let hung = Arc::clone(watch);
        let builder = rayon::ThreadPoolBuilder::new().num_threads(2).start_handler(move |_| hang(Arc::clone(&hung)));
        builder.build().unwrap()
    }

    #[test]
    fn what_is_done_in_all_threads_of_a_pool_is_counted() {
        let watch = Arc::new(Watch::default());
        pool(&watch).install(|| {
            begin(1000);
            (0..1000).into_par_iter().for_each(|_| tick(1));
        });
        assert_eq!(watch.seen(), (1000, 1000));
    }

    #[test]
    fn work_that_is_no_longer_wanted_ends_at_the_next_look() {
        let watch = Arc::new(Watch::default());
        let work =
            || (0..1_000_000).into_par_iter().for_each(|_| if watch.seen().0 > 10 { watch.stop() } else { tick(1) });
        let ended = catch_unwind(AssertUnwindSafe(|| {
            pool(&watch).install(|| {
                (0..3).for_each(|_| {
                    work();
                    look()
                })
            })
        }));
        assert!(ended.unwrap_err().is::<Stopped>());
    }

    #[test]
    fn without_a_watch_nothing_is_looked_at() {
        begin(1);
        tick(1);
        look();
    }
}

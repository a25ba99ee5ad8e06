//! Reports the progress of long native work, and stops it on Ctrl-C.

use crate::convert::error;
use benzer_core::corpus::{InputChanged, catch_bus_errors};
use benzer_core::watch::{Stopped, Watch, hang};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the waiting thread looks at signals, and tells how far the work is.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `work` without the GIL in a pool of so many threads (0: one for each core), and waits for it.
///
/// The waiting thread checks signals meanwhile, and calls `progress` with the completed and the total work if the work
/// reports them. If a signal handler or `progress` raises, the work stops when it checks its [`Watch`] the next time,
/// and the error is returned. No part of the work continues after the return.
///
/// The pool lives only for the call: a pool that outlives it would be dead in a forked child.
pub fn watched<T: Send>(
    py: Python<'_>, threads: usize, progress: Option<&Bound<'_, PyAny>>, work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    catch_bus_errors();
    let watch = Arc::new(Watch::default());
    let hung = Arc::clone(&watch);
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = builder.start_handler(move |_| hang(Arc::clone(&hung))).build();
    let pool = pool.map_err(|cause| PyRuntimeError::new_err(format!("cannot start {threads} threads: {cause}")))?;
    let progress = progress.map(|given| given.clone().unbind());
    let (ended, raised) = py.detach(|| {
        pool.in_place_scope(|scope| {
            let (tell, told) = channel();
            // Nobody listens any more only where this thread panics itself.
            scope.spawn(move |_| drop(tell.send(catch_unwind(AssertUnwindSafe(work)))));
            let mut raised = None;
            loop {
                match told.recv_timeout(LOOK) {
                    Ok(ended) => return (ended, raised),
                    Err(RecvTimeoutError::Disconnected) => unreachable!("the work tells how it ended"),
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        raised = Python::attach(|py| look(py, &watch, progress.as_ref())).err();
                        if raised.is_some() {
                            watch.stop();
                        }
                    }
                }
            }
        })
    });
    match (ended, raised) {
        (_, Some(error)) => Err(error),
        (Ok(answer), None) => Ok(answer),
        (Err(panic), None) => {
            debug_assert!(!panic.is::<Stopped>(), "stopped by nobody");
            Err(input_changed(py, panic))
        }
    }
}

/// Runs short `work` that reads documents, in this thread and with the GIL.
pub fn reading<T>(py: Python<'_>, work: impl FnOnce() -> T) -> PyResult<T> {
    catch_bus_errors();
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| input_changed(py, panic))
}

/// The error for what work unwound with; a panic goes on.
fn input_changed(py: Python<'_>, panic: Box<dyn Any + Send>) -> PyErr {
    match panic.downcast::<InputChanged>() {
        Ok(changed) => {
            let name = changed.name;
            let message = format!("{name} changed while it was read: run again on the current file");
            error(py, "InputError", message)
        }
        Err(panic) => resume_unwind(panic),
    }
}

fn look(py: Python<'_>, watch: &Watch, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    let (done, total) = watch.seen();
    if let (Some(progress), true) = (progress, total > 0) {
        progress.call1(py, (done.min(total), total))?;
    }
    Ok(())
}

//! Progress of windows while the program computes: by the engine's progress thread, where operations need the owner of the
//! memory.
//!
//! Not here: the thread (`mpi-p2p`).

use mpi_errors::Result;

use crate::OneSided;
use crate::window::Win;

impl OneSided {
    /// Starts the progress thread if it is to make progress for windows. Errors: `MPI_ERR_NO_MEM` without a thread.
    pub(crate) fn choose_progress(&self) -> Result<()> {
        if !self.settings.progress_thread.get() {
            return Ok(());
        }
        let advice = "Set win_progress_thread=off, or allow more threads (ulimit -u).";
        self.engine.start_progress_thread(&mut self.engine.lock(), advice)
    }

    /// Has the thread make progress for a new window from now on, if it exists and operations need this process.
    pub(crate) fn begin_progress(&self, win: &mut Win) {
        let guard = &mut self.engine.lock();
        let alone = win.size() == 1 || win.is_mapped() && win.locks().is_some();
        if !alone && self.settings.progress_thread.get() && self.engine.has_progress_thread(guard) {
            win.in_background = true;
            self.engine.begin_background_window(guard);
        }
    }

    /// The window is freed.
    pub(crate) fn end_progress(&self, win: &Win) {
        if win.in_background {
            self.engine.end_background_window(&mut self.engine.lock());
        }
    }
}

//! How a reduction combines values: by an operation of the library, or by a function of the program (MPI-5.0, 6.9).
//!
//! Invariant: a panic of the function ends the job, so that no panic passes through the library.
//! Not here: the reductions (`collective`, `varying`, `started`).

use std::sync::Arc;

use mpi_coll::Op;
use mpi_core::abi::{MPI_ERR_COUNT, MPI_ERR_OP};
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_env::Process;

use crate::communicator::EndOnPanic;
use crate::{Error, Operation, Result};

/// How values are combined: by an [`Operation`] or by a function of the program.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// // Each process has a function x -> slope * x + offset; the first one is applied first.
/// let composition = mpi::Combine::by(|f: [f64; 2], g| [g[0] * f[0], g[0] * f[1] + g[1]]);
/// let doubled = world.scan(&[[2.0, 1.0]], composition)?;
/// assert_eq!(doubled[0][0], f64::from(world.rank() + 1).exp2());
/// # Ok(())
/// # }
/// ```
pub struct Combine<T: Element>(How<T>);

enum How<T> {
    Named(Operation),
    Function(Arc<dyn Fn(T, T) -> T + Send + Sync>),
}

impl<T: Element> Combine<T> {
    /// By a function, which is called with values of lower and of higher ranks. It must be associative, and the same in
    /// all processes. A panic of it ends the job.
    pub fn by(combine: impl Fn(T, T) -> T + Send + Sync + 'static) -> Combine<T> {
        Combine(How::Function(Arc::new(combine)))
    }

    /// Combines values of this process alone, element by element: `higher` gets the results (`MPI_Reduce_local`). Errors:
    /// `MPI_ERR_COUNT` when the slices differ in length; `MPI_ERR_OP` when the operation is not defined on the type.
    ///
    /// ```
    /// let mut values = [3, 4];
    /// mpi::Combine::from(mpi::Operation::Max).apply(&[5, 1], &mut values)?;
    /// assert_eq!(values, [5, 4]);
    /// # Ok::<(), mpi::Error>(())
    /// ```
    pub fn apply(&self, lower: &[T], higher: &mut [T]) -> Result<()> {
        if lower.len() != higher.len() {
            let other = mpi_errors::counted(higher.len(), "element");
            let rule = format!("higher has {other}; both slices must be equally long");
            return Err(Error::new(MPI_ERR_COUNT, rule).arg("lower.len()", &lower.len()).call("Combine::apply"));
        }
        match &self.0 {
            How::Function(combine) => {
                higher.iter_mut().zip(lower).for_each(|(higher, lower)| *higher = combine(*lower, *higher));
                Ok(())
            }
            How::Named(operation) => {
                let op = named(*operation).map_err(|error| error.call("Combine::apply"))?;
                let reducer = op.on(T::datatype(), T::HANDLE).map_err(|error| error.call("Combine::apply"))?;
                let (count, lower, mut higher) =
                    (lower.len() as u64, SendBuf::from_slice(lower), RecvBuf::from_slice(higher));
                if let (Some(lower), Some(higher)) = (lower.native(), higher.native_mut()) {
                    reducer.apply(lower, higher, count);
                }
                Ok(())
            }
        }
    }

    /// The operation of the library. Errors: `MPI_ERR_OP` when it is not defined on the type.
    pub(crate) fn op(&self, process: &'static Process) -> Result<Op> {
        let op = match &self.0 {
            How::Named(operation) => named(*operation)?.clone(),
            How::Function(combine) => {
                let combine = combine.clone();
                Op::of_elements(move |lower: T, higher: T| {
                    let end_on_panic = EndOnPanic(process);
                    let combined = combine(lower, higher);
                    drop(end_on_panic);
                    combined
                })
            }
        };
        op.on(T::datatype(), T::HANDLE)?;
        Ok(op)
    }
}

fn named(operation: Operation) -> Result<&'static Op> {
    let op = Op::predefined(operation.handle());
    op.ok_or_else(|| Error::new(MPI_ERR_OP, "the operation is not in this build"))
}

impl<T: Element> From<Operation> for Combine<T> {
    fn from(operation: Operation) -> Combine<T> {
        Combine(How::Named(operation))
    }
}

impl<T: Element> Clone for Combine<T> {
    fn clone(&self) -> Combine<T> {
        Combine(match &self.0 {
            How::Named(operation) => How::Named(*operation),
            How::Function(combine) => How::Function(combine.clone()),
        })
    }
}

impl<T: Element> std::fmt::Debug for Combine<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            How::Named(operation) => operation.fmt(f),
            How::Function(_) => f.write_str("a function"),
        }
    }
}

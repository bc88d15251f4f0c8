//! Views of files, and the representation of data in them (MPI-5.0, 14.3 and 14.5).
//!
//! Invariant: a view's elements are of one type, in which positions are counted.
//! Not here: accesses (`file`, `file_access`), what converts data (`mpi_io`).

use mpi_core::functions;
use mpi_datatype::{Datatype, Element};
use mpi_env::Process;
use mpi_io::{ByElement, DataRepresentation, View, ViewType};

use crate::call::CallName;
use crate::communicator::EndOnPanic;
use crate::file::{File, at_place};
use crate::threads::ThreadUse;
use crate::{Communicator, Hints, Layout, Result};

const SET_VIEW: CallName = CallName::new("File::set_view", functions::MPI_FILE_SET_VIEW);
const SET_VIEW_AS: CallName = CallName::new("File::set_view_as", functions::MPI_FILE_SET_VIEW);
const BYTE_OFFSET: CallName = CallName::new("File::byte_offset", functions::MPI_FILE_GET_BYTE_OFFSET);
const BYTES_OF: CallName = CallName::new("File::bytes_of", functions::MPI_FILE_GET_TYPE_EXTENT);
const REGISTER: CallName = CallName::new("Communicator::register_representation", functions::MPI_REGISTER_DATAREP);

impl<M: ThreadUse> Communicator<'_, M> {
    /// Registers a data representation of the program under a name, for [`File::set_view_as`] in this process
    /// (`MPI_Register_datarep`; MPI-5.0, 14.5.3). It stays registered until the process ends. A panic of its functions
    /// ends the job.
    ///
    /// Errors: `MPI_ERR_DUP_DATAREP` for a name that is taken, `MPI_ERR_ARG` for an empty one and one of
    /// `MPI_MAX_DATAREP_STRING` bytes or more.
    ///
    /// ```no_run
    /// use mpi::datatype::Datatype;
    ///
    /// /// Every number with the bytes in reverse order.
    /// struct Reversed;
    ///
    /// impl mpi::DataRepresentation for Reversed {
    ///     fn stored_bytes(&self, datatype: &Datatype) -> usize {
    ///         datatype.size() as usize
    ///     }
    ///
    ///     fn load(&self, _: &Datatype, stored: &[u8], element: &mut [u8]) -> mpi::Result<()> {
    ///         element.copy_from_slice(stored);
    ///         element.reverse();
    ///         Ok(())
    ///     }
    ///
    ///     fn store(&self, _: &Datatype, element: &[u8], stored: &mut [u8]) -> mpi::Result<()> {
    ///         stored.copy_from_slice(element);
    ///         stored.reverse();
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn work(world: &mpi::World, file: &mpi::File) -> mpi::Result<()> {
    /// world.register_representation("reversed", Reversed)?;
    /// file.set_view_as(0, &mpi::Layout::<f64>::contiguous(1)?, "reversed", &mpi::Hints::new())
    /// # }
    /// ```
    pub fn register_representation(&self, name: &str, representation: impl DataRepresentation) -> Result<()> {
        self.call(REGISTER, |call| {
            drop(call.enter(-1, 0, 0));
            let conversions = ByElement(EndingOnPanic { representation, process: call.process });
            call.process.io.register(name.to_owned(), Box::new(conversions))
        })
    }
}

impl<M: ThreadUse> File<'_, M> {
    /// Shows this process the elements that `layout` selects, from byte `displacement` on: the layout again and again,
    /// one after the other. Offsets and positions count these elements of `T` from then on, and file pointers are 0.
    /// All processes call it, each with a layout of its own of elements of one length, and wait for each other.
    ///
    /// Errors, in all processes: `MPI_ERR_ARG` for a displacement that no file has, `MPI_ERR_TYPE` for a layout without
    /// elements or whose elements do not ascend, `MPI_ERR_NOT_SAME` for elements of different lengths.
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// use mpi::{Access, Layout};
    ///
    /// // The elements of all processes take turns, four of each.
    /// let (rank, size) = (world.rank() as usize, world.size() as usize);
    /// let file = world.open("blocks", Access::READ_WRITE.create())?;
    /// file.set_view(0, &Layout::<f64>::subarray(&[size, 4], &[1, 4], &[rank, 0])?)?;
    /// file.write(&[f64::from(world.rank()); 8])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_view<T: Element>(&self, displacement: u64, layout: &Layout<T>) -> Result<()> {
        self.set_view_named(SET_VIEW, displacement, layout, "native", &Hints::new())
    }

    /// As [`File::set_view`], with the representation of the elements in the file: `native`, `internal`, `external32`
    /// (MPI-5.0, 14.5.2) or what [`Communicator::register_representation`] was given; and with hints, as
    /// [`File::set_hints`]. All processes pass the same representation. In `external32` a `usize` has 4 bytes, because it
    /// is an unsigned long of C; in a representation of the program, accesses take elements side by side in memory only.
    ///
    /// Errors, in all processes: as [`File::set_view`]; `MPI_ERR_UNSUPPORTED_DATAREP` for another name,
    /// `MPI_ERR_NOT_SAME` for different ones.
    pub fn set_view_as<T: Element>(
        &self,
        displacement: u64,
        layout: &Layout<T>,
        representation: &str,
        hints: &Hints,
    ) -> Result<()> {
        self.set_view_named(SET_VIEW_AS, displacement, layout, representation, hints)
    }

    /// Where the view begins in the file, in bytes, and the name of the representation (`MPI_File_get_view`).
    pub fn view(&self) -> (u64, String) {
        let view = self.file().view();
        (view.displacement(), view.representation().name().to_owned())
    }

    /// The byte of the file where a position of the view lies (`MPI_File_get_byte_offset`). Errors: `MPI_ERR_ARG` for a
    /// place that no file has, `MPI_ERR_UNSUPPORTED_OPERATION` for a sequential file.
    pub fn byte_offset(&self, position: u64) -> Result<u64> {
        self.call(BYTE_OFFSET, 0, |file| at_place("position", position, |position| file.byte_offset(position)))
    }

    /// Bytes of an element of `T` in the file, in the representation of the view (`MPI_File_get_type_extent`). Errors:
    /// `MPI_ERR_CONVERSION` for a type that a representation of the program does not have.
    pub fn bytes_of<T: Element>(&self) -> Result<u64> {
        self.call(BYTES_OF, 0, |file| file.type_extent(T::datatype())).map(|extent| extent as u64)
    }

    fn set_view_named<T: Element>(
        &self,
        name: CallName,
        displacement: u64,
        layout: &Layout<T>,
        representation: &str,
        hints: &Hints,
    ) -> Result<()> {
        let io = &self.process().io;
        self.call(name, 0, |file| {
            let etype = ViewType { datatype: T::datatype().clone(), word: T::HANDLE };
            let filetype = ViewType { datatype: layout.datatype().clone(), word: 0 };
            let representation = io.representation(representation);
            let view = representation
                .and_then(|it| at_place("displacement", displacement, |at| View::new(at, etype, filetype, it)));
            file.set_view(view, hints.info())
        })
    }
}

/// A data representation whose panics end the job: an access that does not end leaves the file locked.
struct EndingOnPanic<R> {
    representation: R,
    process: &'static Process,
}

impl<R> EndingOnPanic<R> {
    fn run<T>(&self, run: impl FnOnce(&R) -> T) -> T {
        let end_on_panic = EndOnPanic(self.process);
        let result = run(&self.representation);
        drop(end_on_panic);
        result
    }
}

impl<R: DataRepresentation> DataRepresentation for EndingOnPanic<R> {
    fn stored_bytes(&self, datatype: &Datatype) -> usize {
        self.run(|representation| representation.stored_bytes(datatype))
    }

    fn load(&self, datatype: &Datatype, stored: &[u8], element: &mut [u8]) -> Result<()> {
        self.run(|representation| representation.load(datatype, stored, element))
    }

    fn store(&self, datatype: &Datatype, element: &[u8], stored: &mut [u8]) -> Result<()> {
        self.run(|representation| representation.store(datatype, element, stored))
    }
}

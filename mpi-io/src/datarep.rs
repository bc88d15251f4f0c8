//! Data representations: those of the standard, and those that the program registers (MPI-5.0, 14.5).
//!
//! Invariant: a name stands for one representation for as long as the process runs; names of the standard are taken.
//! Not here: accesses with a representation (`convert`, `registered`), the program's functions themselves (mpi-capi).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use mpi_core::abi::MPI_MAX_DATAREP_STRING;
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_CONVERSION, MPI_ERR_DUP_DATAREP, MPI_ERR_UNSUPPORTED_DATAREP};
use mpi_datatype::{Datatype, external32};
use mpi_errors::{Error, Result};

/// The functions of a representation that the program registers. They run with no lock of the process held.
pub trait Conversions: Send + Sync {
    /// Bytes of a predefined type in a file, by its handle word.
    fn extent(&self, datatype: usize) -> Result<i64>;

    /// Whether data are converted when they are read, or, with `writing`, when they are written.
    fn converts(&self, writing: bool) -> bool;

    /// Converts `items` basic elements from the bytes of the file to memory, or, with `writing`, the reverse. `memory`
    /// is the address of elements of the type with this handle word.
    ///
    /// # Safety
    /// The memory is that of a buffer of elements of the type, which has as many basic elements at least; `file` has
    /// the bytes of all of them.
    #[allow(unsafe_code)] // states the promise that the implementation needs
    unsafe fn convert(&self, writing: bool, memory: usize, datatype: usize, items: u64, file: &mut [u8]) -> Result<()>;
}

/// A representation that the program has registered.
pub struct Registered {
    name: String,
    functions: Box<dyn Conversions>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registered({:?})", self.name)
    }
}

impl Registered {
    /// The program's functions.
    pub(crate) fn functions(&self) -> &dyn Conversions {
        &*self.functions
    }

    /// Bytes of a predefined type in a file. Errors: `MPI_ERR_CONVERSION` for a negative number, those of the function.
    pub(crate) fn size_of(&self, datatype: &Datatype) -> Result<u64> {
        let extent = self.functions.extent(datatype.word())?;
        u64::try_from(extent).map_err(|_| {
            let rule = format!("the extent function of {:?} returned {extent} for {}", self.name, datatype.name());
            Error::new(MPI_ERR_CONVERSION, rule)
        })
    }
}

/// The representation of data in a file.
#[derive(Debug, Clone)]
pub enum Representation {
    /// As in memory.
    Native,
    /// The library's own, which is as in memory too.
    Internal,
    /// That of the standard, which any computer reads (MPI-5.0, 14.5.2).
    External32,
    /// One of the program.
    Registered(Arc<Registered>),
}

impl Representation {
    /// A representation of the standard by its name.
    fn of_standard(name: &str) -> Option<Representation> {
        match name {
            "native" => Some(Representation::Native),
            "internal" => Some(Representation::Internal),
            "external32" => Some(Representation::External32),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Representation::Native => "native",
            Representation::Internal => "internal",
            Representation::External32 => "external32",
            Representation::Registered(registered) => &registered.name,
        }
    }

    /// A number that is the same in all processes, by which they compare names.
    pub(crate) fn number(&self) -> u64 {
        let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.name().bytes().fold(0xcbf2_9ce4_8422_2325, step)
    }

    /// Bytes of one element of a committed type in a file. Errors: as [`Representation::in_file`].
    pub(crate) fn size_in_file(&self, datatype: &Datatype) -> Result<u64> {
        match self {
            Representation::Native | Representation::Internal => Ok(datatype.size()),
            Representation::External32 => external32::size(1, datatype)
                .ok_or_else(|| Error::new(MPI_ERR_ARG, "no file has as many bytes as an element of the datatype")),
            Representation::Registered(_) => Ok(self.in_file(datatype)?.size()),
        }
    }

    /// The layout of a committed type in a file. Errors: `MPI_ERR_ARG` for one that no file can have; of a registered
    /// representation, `MPI_ERR_CONVERSION`.
    pub(crate) fn in_file(&self, datatype: &Datatype) -> Result<Datatype> {
        match self {
            Representation::Native | Representation::Internal => Ok(datatype.clone()),
            Representation::External32 => external32::in_file(datatype),
            Representation::Registered(registered) => datatype.with_sizes(|part| registered.size_of(part)),
        }
    }
}

/// The representations of a process. Thread-safe.
#[derive(Debug, Default)]
pub(crate) struct Representations {
    registered: Mutex<HashMap<String, Arc<Registered>>>,
}

impl Representations {
    /// The representation with this name. Errors: `MPI_ERR_UNSUPPORTED_DATAREP`.
    pub fn find(&self, name: &str) -> Result<Representation> {
        if let Some(representation) = Representation::of_standard(name) {
            return Ok(representation);
        }
        // An entry is added as a whole, so a panic in another thread leaves valid ones.
        match self.registered.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            Some(registered) => Ok(Representation::Registered(registered.clone())),
            None => {
                let rule = "it is \"native\", \"internal\", \"external32\" or a name that the program has registered";
                Err(Error::new(MPI_ERR_UNSUPPORTED_DATAREP, rule).arg("datarep", &format_args!("{name:?}")))
            }
        }
    }

    /// `MPI_Register_datarep`. Errors: `MPI_ERR_ARG` for an empty name and one that is too long,
    /// `MPI_ERR_DUP_DATAREP` for one that is taken.
    pub fn register(&self, name: String, functions: Box<dyn Conversions>) -> Result<()> {
        let refused = |class, rule: &str| Err(Error::new(class, rule.to_owned()).arg("datarep", &format!("{name:?}")));
        if name.is_empty() || name.len() >= MPI_MAX_DATAREP_STRING as usize {
            return refused(MPI_ERR_ARG, "a name has 1 to MPI_MAX_DATAREP_STRING - 1 bytes");
        }
        let taken = Representation::of_standard(&name).is_some();
        match self.registered.lock().unwrap_or_else(PoisonError::into_inner).entry(name.clone()) {
            Entry::Vacant(entry) if !taken => {
                entry.insert(Arc::new(Registered { name, functions }));
                Ok(())
            }
            _ => refused(MPI_ERR_DUP_DATAREP, "there is a data representation with this name"),
        }
    }
}

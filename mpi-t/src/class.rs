//! Properties of variables: class, type, binding, scope, verbosity, and their permitted combinations (MPI-5.0, section
//! 15.3).
//!
//! Invariant: the discriminants are the ABI's values. Not here: the variables.

use mpi_core::abi;

/// The class of a performance variable (MPI-5.0, section 15.3.7): what its value means and when it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum PvarClass {
    /// One of a set of states.
    State = abi::MPI_T_PVAR_CLASS_STATE,
    /// How much of a resource is in use.
    Level = abi::MPI_T_PVAR_CLASS_LEVEL,
    /// The fixed size of a resource.
    Size = abi::MPI_T_PVAR_CLASS_SIZE,
    /// Which part of a finite resource is in use, 0.0 to 1.0.
    Percentage = abi::MPI_T_PVAR_CLASS_PERCENTAGE,
    /// The highest level since the start or the last reset.
    HighWatermark = abi::MPI_T_PVAR_CLASS_HIGHWATERMARK,
    /// The lowest level since the start or the last reset.
    LowWatermark = abi::MPI_T_PVAR_CLASS_LOWWATERMARK,
    /// How often something happened.
    Counter = abi::MPI_T_PVAR_CLASS_COUNTER,
    /// The sum of the amounts of something that happened.
    Aggregate = abi::MPI_T_PVAR_CLASS_AGGREGATE,
    /// The time spent with something.
    Timer = abi::MPI_T_PVAR_CLASS_TIMER,
    /// None of the above.
    Generic = abi::MPI_T_PVAR_CLASS_GENERIC,
}

impl PvarClass {
    /// All classes.
    pub const ALL: [PvarClass; 10] = [
        PvarClass::State,
        PvarClass::Level,
        PvarClass::Size,
        PvarClass::Percentage,
        PvarClass::HighWatermark,
        PvarClass::LowWatermark,
        PvarClass::Counter,
        PvarClass::Aggregate,
        PvarClass::Timer,
        PvarClass::Generic,
    ];

    /// The class with this `MPI_T_PVAR_CLASS_*` value, if there is one.
    pub fn from_abi(value: i32) -> Option<PvarClass> {
        PvarClass::ALL.into_iter().find(|class| *class as i32 == value)
    }

    /// The name of its constant.
    pub const fn name(self) -> &'static str {
        match self {
            PvarClass::State => "MPI_T_PVAR_CLASS_STATE",
            PvarClass::Level => "MPI_T_PVAR_CLASS_LEVEL",
            PvarClass::Size => "MPI_T_PVAR_CLASS_SIZE",
            PvarClass::Percentage => "MPI_T_PVAR_CLASS_PERCENTAGE",
            PvarClass::HighWatermark => "MPI_T_PVAR_CLASS_HIGHWATERMARK",
            PvarClass::LowWatermark => "MPI_T_PVAR_CLASS_LOWWATERMARK",
            PvarClass::Counter => "MPI_T_PVAR_CLASS_COUNTER",
            PvarClass::Aggregate => "MPI_T_PVAR_CLASS_AGGREGATE",
            PvarClass::Timer => "MPI_T_PVAR_CLASS_TIMER",
            PvarClass::Generic => "MPI_T_PVAR_CLASS_GENERIC",
        }
    }

    /// Whether the standard lets variables of this class have this type.
    pub const fn allows(self, value: ValueType) -> bool {
        match self {
            PvarClass::State => matches!(value, ValueType::I32),
            PvarClass::Percentage => matches!(value, ValueType::F64),
            PvarClass::Counter => matches!(value, ValueType::U32 | ValueType::U64),
            PvarClass::Generic => !matches!(value, ValueType::Text),
            _ => matches!(value, ValueType::U32 | ValueType::U64 | ValueType::F64),
        }
    }

    /// Whether the value is a sum that starts at zero: counters, aggregates and timers.
    pub const fn is_sum(self) -> bool {
        matches!(self, PvarClass::Counter | PvarClass::Aggregate | PvarClass::Timer)
    }

    /// Whether the value is a watermark of a level.
    pub const fn is_watermark(self) -> bool {
        matches!(self, PvarClass::HighWatermark | PvarClass::LowWatermark)
    }
}

/// The type of a variable's value; each has one MPI datatype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// `MPI_INT`
    I32,
    /// `MPI_UNSIGNED`
    U32,
    /// `MPI_UNSIGNED_LONG_LONG`
    U64,
    /// `MPI_DOUBLE`
    F64,
    /// `MPI_CHAR`, null-terminated
    Text,
}

impl ValueType {
    /// The handle of the MPI datatype.
    pub const fn datatype(self) -> usize {
        match self {
            ValueType::I32 => abi::MPI_INT,
            ValueType::U32 => abi::MPI_UNSIGNED,
            ValueType::U64 => abi::MPI_UNSIGNED_LONG_LONG,
            ValueType::F64 => abi::MPI_DOUBLE,
            ValueType::Text => abi::MPI_CHAR,
        }
    }

    /// The name of the MPI datatype.
    pub const fn name(self) -> &'static str {
        match self {
            ValueType::I32 => "MPI_INT",
            ValueType::U32 => "MPI_UNSIGNED",
            ValueType::U64 => "MPI_UNSIGNED_LONG_LONG",
            ValueType::F64 => "MPI_DOUBLE",
            ValueType::Text => "MPI_CHAR",
        }
    }

    /// The type in Rust.
    pub const fn rust_name(self) -> &'static str {
        match self {
            ValueType::I32 => "i32",
            ValueType::U32 => "u32",
            ValueType::U64 => "u64",
            ValueType::F64 => "f64",
            ValueType::Text => "String",
        }
    }

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            ValueType::I32 | ValueType::U32 => 4,
            ValueType::U64 | ValueType::F64 => 8,
            ValueType::Text => 1,
        }
    }
}

/// The kind of MPI object that a variable is bound to (MPI-5.0, section 15.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Bind {
    /// The process as a whole.
    NoObject = abi::MPI_T_BIND_NO_OBJECT,
    /// A communicator.
    Comm = abi::MPI_T_BIND_MPI_COMM,
    /// A datatype.
    Datatype = abi::MPI_T_BIND_MPI_DATATYPE,
    /// An error handler.
    Errhandler = abi::MPI_T_BIND_MPI_ERRHANDLER,
    /// A file.
    File = abi::MPI_T_BIND_MPI_FILE,
    /// A group.
    Group = abi::MPI_T_BIND_MPI_GROUP,
    /// A reduction operation.
    Op = abi::MPI_T_BIND_MPI_OP,
    /// A request.
    Request = abi::MPI_T_BIND_MPI_REQUEST,
    /// A window.
    Win = abi::MPI_T_BIND_MPI_WIN,
    /// A message.
    Message = abi::MPI_T_BIND_MPI_MESSAGE,
    /// An info object.
    Info = abi::MPI_T_BIND_MPI_INFO,
    /// A session (of MPI, not of a performance experiment).
    Session = abi::MPI_T_BIND_MPI_SESSION,
}

impl Bind {
    /// The kind as text: `communicator`.
    pub const fn object(self) -> &'static str {
        match self {
            Bind::NoObject => "process",
            Bind::Comm => "communicator",
            Bind::Datatype => "datatype",
            Bind::Errhandler => "error handler",
            Bind::File => "file",
            Bind::Group => "group",
            Bind::Op => "reduction operation",
            Bind::Request => "request",
            Bind::Win => "window",
            Bind::Message => "message",
            Bind::Info => "info object",
            Bind::Session => "session",
        }
    }
}

/// The processes in which a control variable must be changed together (MPI-5.0, section 15.3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Scope {
    /// The value never changes.
    Constant = abi::MPI_T_SCOPE_CONSTANT,
    /// The value may change, but programs cannot write it.
    Readonly = abi::MPI_T_SCOPE_READONLY,
    /// Each process may change its own value.
    Local = abi::MPI_T_SCOPE_LOCAL,
    /// To be changed consistently in a group of processes.
    Group = abi::MPI_T_SCOPE_GROUP,
    /// To be changed to the same value in a group of processes.
    GroupEq = abi::MPI_T_SCOPE_GROUP_EQ,
    /// To be changed consistently in all processes.
    All = abi::MPI_T_SCOPE_ALL,
    /// To be changed to the same value in all processes.
    AllEq = abi::MPI_T_SCOPE_ALL_EQ,
}

impl Scope {
    /// The name of its constant.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Constant => "MPI_T_SCOPE_CONSTANT",
            Scope::Readonly => "MPI_T_SCOPE_READONLY",
            Scope::Local => "MPI_T_SCOPE_LOCAL",
            Scope::Group => "MPI_T_SCOPE_GROUP",
            Scope::GroupEq => "MPI_T_SCOPE_GROUP_EQ",
            Scope::All => "MPI_T_SCOPE_ALL",
            Scope::AllEq => "MPI_T_SCOPE_ALL_EQ",
        }
    }

    /// Whether a program may ever write the variable.
    pub const fn is_writable(self) -> bool {
        !matches!(self, Scope::Constant | Scope::Readonly)
    }
}

/// The intended readers of a variable (MPI-5.0, section 15.3.1); the crate's documentation defines the levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum Verbosity {
    /// Users, the most important.
    UserBasic = abi::MPI_T_VERBOSITY_USER_BASIC,
    /// Users, details.
    UserDetail = abi::MPI_T_VERBOSITY_USER_DETAIL,
    /// Users, everything.
    UserAll = abi::MPI_T_VERBOSITY_USER_ALL,
    /// People who tune programs, the most important.
    TunerBasic = abi::MPI_T_VERBOSITY_TUNER_BASIC,
    /// People who tune programs, details.
    TunerDetail = abi::MPI_T_VERBOSITY_TUNER_DETAIL,
    /// People who tune programs, everything.
    TunerAll = abi::MPI_T_VERBOSITY_TUNER_ALL,
    /// Developers of this library, the most important.
    DeveloperBasic = abi::MPI_T_VERBOSITY_MPIDEV_BASIC,
    /// Developers of this library, details.
    DeveloperDetail = abi::MPI_T_VERBOSITY_MPIDEV_DETAIL,
    /// Developers of this library, everything.
    DeveloperAll = abi::MPI_T_VERBOSITY_MPIDEV_ALL,
}

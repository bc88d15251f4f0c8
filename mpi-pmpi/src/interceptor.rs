//! The typed interface for tools that see every MPI call: a trait with one function before and one after each call.
//!
//! A tool is a crate of the type `cdylib` with one type that implements [`Interceptor`], and [`crate::interceptor!`] with its
//! name. `mpiexec --tool libtool.so` puts it in front of the library, in a stack with other tools of this and of other
//! kinds. `mpi-pmpi/examples/slow_calls.rs` is a complete tool. The interface in C is `ferrum_stack.h`.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use mpi_pmpi::interceptor::{Call, Host, Interceptor};
//!
//! struct Sends(AtomicU64);
//!
//! impl Interceptor for Sends {
//!     fn start(_: &Host<'_>) -> Sends {
//!         Sends(AtomicU64::new(0))
//!     }
//!     fn enter(&self, call: &mut Call<'_>) {
//!         if call.function().name() == "MPI_Send" && call.int("dest") == Some(0) {
//!             self.0.fetch_add(1, Ordering::Relaxed);
//!         }
//!     }
//!     fn end(&self) {
//!         eprintln!("{} messages to rank 0", self.0.load(Ordering::Relaxed));
//!     }
//! }
//! mpi_pmpi::interceptor!(Sends);
//! ```
//!
//! Invariant: a value is read with the type that the function's table gives it. Not here: who calls the tool (mpi-stack).
#![allow(unsafe_code)] // the structures of ferrum_stack.h

use std::ffi::{CStr, c_char, c_void};

/// The structures of `ferrum_stack.h`.
pub mod raw {
    use std::ffi::{c_char, c_int, c_void};

    /// `ferrum_value`.
    #[derive(Clone, Copy)]
    #[repr(C)]
    pub union Value {
        /// Numbers.
        pub integer: i64,
        /// Seconds.
        pub real: f64,
        /// Handles, addresses and functions.
        pub address: *mut c_void,
    }

    /// `ferrum_parameter`.
    #[repr(C)]
    pub struct Parameter {
        /// As in the standard.
        pub name: *const c_char,
        /// The standard's kind of parameter.
        pub kind: *const c_char,
        /// The type in C.
        pub c_type: *const c_char,
        /// `ferrum_type`.
        pub value_type: c_int,
        /// `ferrum_direction`.
        pub direction: c_int,
    }

    /// `ferrum_function`.
    #[repr(C)]
    pub struct Function {
        /// With `MPI_`.
        pub name: *const c_char,
        /// Its number.
        pub number: c_int,
        /// Number of parameters.
        pub count: c_int,
        /// The parameters.
        pub parameters: *const Parameter,
        /// `ferrum_type` of the result.
        pub result: c_int,
        /// Whether the result is an error code.
        pub is_error_code: c_int,
        /// Position of the rank, or -1.
        pub peer: c_int,
        /// Position of the tag, or -1.
        pub tag: c_int,
        /// Position of the communicator, window or file, or -1.
        pub object: c_int,
    }

    /// `ferrum_call`.
    #[repr(C)]
    pub struct Call {
        /// The function.
        pub function: *const Function,
        /// Its arguments.
        pub arguments: *const Value,
        /// What the call returns.
        pub result: Value,
        /// From enter to leave.
        pub kept: u64,
        /// The bytes that the arguments describe.
        pub bytes: unsafe extern "C" fn(*const Call) -> i64,
    }

    /// `ferrum_host`.
    #[repr(C)]
    pub struct Host {
        /// Of this structure, in bytes.
        pub size: usize,
        /// Numbers of functions are below this.
        pub numbers: c_int,
        /// Number of functions.
        pub count: c_int,
        /// The functions.
        pub functions: *const Function,
    }

    /// `ferrum_interceptor`.
    #[repr(C)]
    pub struct Interceptor {
        /// Of this structure, in bytes.
        pub size: usize,
        /// Returns the tool's state.
        pub start: Option<unsafe extern "C" fn(*const Host) -> *mut c_void>,
        /// Before a call.
        pub enter: Option<unsafe extern "C" fn(*mut c_void, *mut Call)>,
        /// After a call.
        pub leave: Option<unsafe extern "C" fn(*mut c_void, *mut Call)>,
        /// When the process ends.
        pub end: Option<unsafe extern "C" fn(*mut c_void)>,
    }
}

/// A tool; one value of the type exists for each place in the stack. Its functions are called by several threads at once.
pub trait Interceptor: Sync + Sized + 'static {
    /// Makes the tool before the first call.
    fn start(host: &Host<'_>) -> Self;
    /// Called before each call.
    fn enter(&self, call: &mut Call<'_>) {
        let _ = call;
    }
    /// Called after each call that returns.
    fn leave(&self, call: &mut Call<'_>) {
        let _ = call;
    }
    /// Called when the process ends by itself, after `MPI_Finalize`.
    fn end(&self) {}
}

/// Defines a shared object's variable `ferrum_interceptor_v1`, which makes it a tool.
#[macro_export]
macro_rules! interceptor {
    ($tool:ty) => {
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        #[allow(unsafe_code, non_upper_case_globals)] // the name of ferrum_stack.h
        pub static ferrum_interceptor_v1: $crate::interceptor::raw::Interceptor = $crate::interceptor::table::<$tool>();
    };
}

/// The functions of a tool as `ferrum_stack.h` has them.
pub const fn table<T: Interceptor>() -> raw::Interceptor {
    unsafe extern "C" fn start<T: Interceptor>(host: *const raw::Host) -> *mut c_void {
        // SAFETY: the caller passes a structure that lives until the process ends.
        let tool = guard(|| T::start(&Host(unsafe { &*host })));
        Box::into_raw(Box::new(tool)).cast()
    }
    unsafe extern "C" fn enter<T: Interceptor>(state: *mut c_void, call: *mut raw::Call) {
        // SAFETY: the state is what `start` returned; the call lives until this function returns.
        guard(|| unsafe { (*state.cast::<T>()).enter(&mut Call { raw: &mut *call, after: false }) });
    }
    unsafe extern "C" fn leave<T: Interceptor>(state: *mut c_void, call: *mut raw::Call) {
        // SAFETY: as in `enter`.
        guard(|| unsafe { (*state.cast::<T>()).leave(&mut Call { raw: &mut *call, after: true }) });
    }
    unsafe extern "C" fn end<T: Interceptor>(state: *mut c_void) {
        // SAFETY: as in `enter`.
        guard(|| unsafe { (*state.cast::<T>()).end() });
    }
    raw::Interceptor {
        size: size_of::<raw::Interceptor>(),
        start: Some(start::<T>),
        enter: Some(enter::<T>),
        leave: Some(leave::<T>),
        end: Some(end::<T>),
    }
}

/// Runs a function of a tool; a panic ends the process, since it cannot cross the program's frames.
fn guard<R>(run: impl FnOnce() -> R) -> R {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(value) => value,
        Err(_) => std::process::abort(),
    }
}

/// The functions of the library, given at the start.
pub struct Host<'a>(&'a raw::Host);

impl Host<'_> {
    /// A number above those of all functions, for tables with an element for each.
    pub fn numbers(&self) -> usize {
        self.0.numbers as usize
    }

    /// All functions, in the order of their names.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        let functions = self.0.functions;
        // SAFETY: the host's table has this length and lives until the process ends.
        (0..self.0.count as usize).map(move |at| Function(unsafe { &*functions.add(at) }))
    }
}

/// The direction of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It goes in.
    In,
    /// It is the place of a result.
    Out,
    /// Both.
    InOut,
}

/// A value, by its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// `int` and enumerations.
    Int(i32),
    /// `MPI_Aint`, `MPI_Count` and `MPI_Offset`.
    Int64(i64),
    /// `double`.
    Double(f64),
    /// The word of a handle.
    Handle(usize),
    /// An address of memory: a buffer, an array, a text, the place of a result.
    Address(*mut c_void),
    /// The address of a function.
    Function(*mut c_void),
    /// Further arguments of `MPI_Pcontrol`.
    Void,
}

impl Value {
    fn new(value_type: i32, value: raw::Value) -> Value {
        // SAFETY: all fields have the same size, and every bit pattern is a value of each.
        unsafe {
            match value_type {
                1 => Value::Int(value.integer as i32),
                2 => Value::Int64(value.integer),
                3 => Value::Double(value.real),
                4 => Value::Handle(value.address as usize),
                5 => Value::Address(value.address),
                6 => Value::Function(value.address),
                _ => Value::Void,
            }
        }
    }

    /// A number of 32 or 64 bits.
    pub fn number(self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(number.into()),
            Value::Int64(number) => Some(number),
            _ => None,
        }
    }
}

fn text(text: *const c_char) -> &'static str {
    // SAFETY: the tables hold C strings of ASCII that live until the process ends.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}

/// A function of MPI.
#[derive(Clone, Copy)]
pub struct Function(&'static raw::Function);

impl Function {
    /// Its name with `MPI_`.
    pub fn name(self) -> &'static str {
        text(self.0.name)
    }

    /// Its number, the same in all processes; below [`Host::numbers`].
    pub fn number(self) -> usize {
        self.0.number as usize
    }

    /// Whether its result is an error code.
    pub fn returns_error_code(self) -> bool {
        self.0.is_error_code != 0
    }

    /// Its parameters.
    pub fn parameters(self) -> impl Iterator<Item = Parameter> {
        let parameters = self.0.parameters;
        // SAFETY: the table has this length and lives until the process ends.
        (0..self.0.count as usize).map(move |at| Parameter(unsafe { &*parameters.add(at) }))
    }
}

/// A parameter of a function.
#[derive(Clone, Copy)]
pub struct Parameter(&'static raw::Parameter);

impl Parameter {
    /// Its name in the standard.
    pub fn name(self) -> &'static str {
        text(self.0.name)
    }

    /// The standard's kind of parameter, such as `RANK_DEST`.
    pub fn kind(self) -> &'static str {
        text(self.0.kind)
    }

    /// Its type in C.
    pub fn c_type(self) -> &'static str {
        text(self.0.c_type)
    }

    /// Its direction.
    pub fn direction(self) -> Direction {
        match self.0.direction {
            0 => Direction::In,
            1 => Direction::Out,
            _ => Direction::InOut,
        }
    }
}

/// One call.
pub struct Call<'a> {
    raw: &'a mut raw::Call,
    after: bool,
}

impl Call<'_> {
    /// The function.
    pub fn function(&self) -> Function {
        // SAFETY: the table lives until the process ends.
        Function(unsafe { &*self.raw.function })
    }

    /// The argument at a position, from 0.
    pub fn argument(&self, position: usize) -> Option<Value> {
        let parameter = self.function().parameters().nth(position)?;
        // SAFETY: the call has as many arguments as the function has parameters.
        Some(Value::new(parameter.0.value_type, unsafe { *self.raw.arguments.add(position) }))
    }

    /// The argument with a name.
    pub fn named(&self, name: &str) -> Option<Value> {
        self.argument(self.function().parameters().position(|parameter| parameter.name() == name)?)
    }

    /// All parameters with their arguments.
    pub fn arguments(&self) -> impl Iterator<Item = (Parameter, Value)> {
        self.function().parameters().enumerate().filter_map(|(at, parameter)| Some((parameter, self.argument(at)?)))
    }

    /// The argument with a name, if it is an `int`.
    pub fn int(&self, name: &str) -> Option<i32> {
        match self.named(name) {
            Some(Value::Int(value)) => Some(value),
            _ => None,
        }
    }

    /// The argument with a name, if it is a number of 32 or 64 bits.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.named(name)?.number()
    }

    /// The argument with a name, if it is a handle.
    pub fn handle(&self, name: &str) -> Option<usize> {
        match self.named(name) {
            Some(Value::Handle(value)) => Some(value),
            _ => None,
        }
    }

    /// The rank of the other process, or of the root.
    pub fn peer(&self) -> Option<i32> {
        self.at(self.raw_function().peer)?.number().map(|number| number as i32)
    }

    /// The tag.
    pub fn tag(&self) -> Option<i32> {
        self.at(self.raw_function().tag)?.number().map(|number| number as i32)
    }

    /// The handle of the communicator, window or file.
    pub fn object(&self) -> Option<usize> {
        match self.at(self.raw_function().object)? {
            Value::Handle(handle) => Some(handle),
            _ => None,
        }
    }

    /// After a call that has succeeded: the bytes that the arguments describe, count times size of the datatype, of the
    /// data that the process sends, else of the room that it receives into.
    pub fn bytes(&self) -> Option<u64> {
        if !self.after {
            return None;
        }
        // SAFETY: the function that came with the call.
        u64::try_from(unsafe { (self.raw.bytes)(&raw const *self.raw) }).ok()
    }

    /// After a call: what it returns.
    pub fn result(&self) -> Option<Value> {
        self.after.then(|| Value::new(self.raw_function().result, self.raw.result))
    }

    /// After a call of a function that returns an error code: returns this one to the program.
    pub fn set_error_code(&mut self, code: i32) {
        if self.after && self.function().returns_error_code() {
            self.raw.result.integer = code.into();
        }
    }

    /// After a call of a function that returns seconds: returns these to the program.
    pub fn set_seconds(&mut self, seconds: f64) {
        if matches!(self.result(), Some(Value::Double(_))) {
            self.raw.result.real = seconds;
        }
    }

    /// Keeps a value from enter to leave.
    pub fn keep(&mut self, value: u64) {
        self.raw.kept = value;
    }

    /// The value that enter has kept; 0 if none.
    pub fn kept(&self) -> u64 {
        self.raw.kept
    }

    fn raw_function(&self) -> &'static raw::Function {
        self.function().0
    }

    fn at(&self, position: i32) -> Option<Value> {
        self.argument(usize::try_from(position).ok()?)
    }
}

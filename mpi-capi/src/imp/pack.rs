//! Packing data into memory of the program, and unpacking it (MPI-5.0, 5.2 and 5.3).
//!
//! Packed data are the data bytes alone, with nothing before or behind them, so all communicators have one format.
//! Invariants: the position changes only when the call succeeds. Long data are packed with the process lock released.

use core::ffi::{c_char, c_void};

use mpi_core::abi;
use mpi_datatype::{RecvBuf, SendBuf, external32};
use mpi_errors::{Error, Result};

use crate::call_context::{CallContext, CommView, TypeRef};
use crate::check::{self, CountOut, CountWord, bad_buffer, is_no_memory};
use crate::errors::Outcome;

/// `MPI_Pack_size`: exact, as nothing is added to the data.
pub fn pack_size(_cx: CallContext, count: u64, datatype: TypeRef, _comm: CommView, size: CountOut) -> Outcome {
    match datatype.size().checked_mul(count).and_then(|bytes| i64::try_from(bytes).ok()) {
        Some(bytes) => {
            size.set(bytes);
            Ok(())
        }
        None => Err(check::too_many("incount", count, &datatype).into()),
    }
}

/// `MPI_Pack`
pub fn pack(
    cx: CallContext,
    data: SendBuf<'static>,
    out: *mut c_void,
    size: u64,
    position: CountOut,
    _comm: CommView,
) -> Outcome {
    let packed = Packed::new(("outbuf", "outsize"), out, size, position, data.bytes())?;
    let CallContext { process, mut guard, .. } = cx;
    process.engine.copy_unlocked(&mut guard, data.bytes(), || data.pack(0, packed.bytes_mut()));
    packed.advance(position)
}

/// `MPI_Unpack`
pub fn unpack(
    cx: CallContext,
    input: *const c_void,
    size: u64,
    position: CountOut,
    mut data: RecvBuf<'static>,
    _comm: CommView,
) -> Outcome {
    let packed = Packed::new(("inbuf", "insize"), input, size, position, data.bytes())?;
    let CallContext { process, mut guard, .. } = cx;
    process.engine.copy_unlocked(&mut guard, data.bytes(), || data.unpack(0, packed.bytes()));
    packed.advance(position)
}

/// `MPI_Pack_external_size`
pub fn pack_external_size(
    _cx: CallContext,
    name: *const c_char,
    count: u64,
    datatype: TypeRef,
    size: CountOut,
) -> Outcome {
    check_name(name)?;
    size.set(external_size("incount", count, &datatype)? as i64);
    Ok(())
}

/// `MPI_Pack_external`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn pack_external<S: CountWord>(
    cx: CallContext,
    name: *const c_char,
    input: *const c_void,
    count: u64,
    datatype: TypeRef,
    out: *mut c_void,
    size: S,
    position: CountOut,
) -> Outcome {
    check_name(name)?;
    let data = cx.send_buffer("inbuf", input, count, &datatype)?;
    let room = check::size("outsize", size.wide())?;
    let bytes = external_size("incount", count, &datatype)?;
    let packed = Packed::new(("outbuf", "outsize"), out, room, position, bytes)?;
    let CallContext { process, mut guard, .. } = cx;
    process.engine.copy_unlocked(&mut guard, bytes, || external32::pack(&data, &datatype, packed.bytes_mut()));
    packed.advance(position)
}

/// `MPI_Unpack_external`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn unpack_external<S: CountWord>(
    cx: CallContext,
    name: *const c_char,
    input: *const c_void,
    size: S,
    position: CountOut,
    out: *mut c_void,
    count: u64,
    datatype: TypeRef,
) -> Outcome {
    check_name(name)?;
    let mut data = cx.recv_buffer("outbuf", out, count, &datatype)?;
    let room = check::size("insize", size.wide())?;
    let bytes = external_size("outcount", count, &datatype)?;
    let packed = Packed::new(("inbuf", "insize"), input, room, position, bytes)?;
    let CallContext { process, mut guard, .. } = cx;
    process.engine.copy_unlocked(&mut guard, bytes, || external32::unpack(&mut data, &datatype, packed.bytes()));
    packed.advance(position)
}

/// Only one representation is defined for packing.
fn check_name(name: *const c_char) -> Result<()> {
    match check::text("datarep", name)?.to_string_lossy() {
        name if name == "external32" => Ok(()),
        name => Err(Error::new(abi::MPI_ERR_ARG, "the representation for packing is \"external32\"")
            .arg("datarep", &format_args!("{name:?}"))),
    }
}

fn external_size(name: &'static str, count: u64, datatype: &TypeRef) -> Result<u64> {
    external32::size(count, datatype).ok_or_else(|| check::too_many(name, count, datatype))
}

/// The part of the program's packed memory that a call reads or writes.
struct Packed {
    start: *mut u8,
    length: usize,
    end: i64,
}

impl Packed {
    /// `needed` bytes from the position on, of memory of `size` bytes. `names` are those of the memory and the size.
    fn new(
        names: (&'static str, &'static str),
        memory: *const c_void,
        size: u64,
        position: CountOut,
        needed: u64,
    ) -> Result<Packed> {
        let at = position.get();
        let place = u64::try_from(at).ok().filter(|place| *place <= size).ok_or_else(|| {
            let rule = format!("a position is 0 to {}, which is {size}", names.1);
            Error::new(abi::MPI_ERR_ARG, rule).arg("position", &at)
        })?;
        if needed > size - place {
            let (data, left) = (mpi_errors::counted(needed, "byte"), size - place);
            let rule = format!("the data have {data}, but the room from position {place} on is {left}");
            return Err(Error::new(abi::MPI_ERR_TRUNCATE, rule).arg(names.1, &size));
        }
        if needed > 0 && is_no_memory(memory) {
            return Err(bad_buffer(names.0, memory));
        }
        let start = if needed == 0 { core::ptr::dangling_mut() } else { memory.cast_mut().cast::<u8>() };
        let start = if needed == 0 { start } else { start.wrapping_add(place as usize) };
        Ok(Packed { start, length: needed as usize, end: (place + needed) as i64 })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the program passed memory of `size` bytes, which holds these; it does not change them during the
        // call.
        unsafe { core::slice::from_raw_parts(self.start, self.length) }
    }

    #[allow(clippy::mut_from_ref)] // the memory is the program's; one slice of it exists at a time
    fn bytes_mut(&self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and it does not access them during the call.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.length) }
    }

    fn advance(&self, position: CountOut) -> Outcome {
        position.set(self.end);
        Ok(())
    }
}

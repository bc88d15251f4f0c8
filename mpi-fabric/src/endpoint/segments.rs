//! Longer payloads: through the copy buffer, in segments, so that the receiver copies one while this process writes the
//! next.
//!
//! How they are copied and which part of the buffer they use follows the distance of the receiver.
//! Not here: the buffer (`copy_buffer`), the measurement (`ring::distance`), what a segment is to the receiver (`mpi-p2p`).

use super::Endpoint;
use super::peer::Output;
use crate::layout::LINE;
use crate::record::{Full, RecordHead};
use crate::settings::{AUTO, FabricSettings, STREAMING};
use crate::streaming::copy_streaming;

/// Payloads for far receivers use so much of the copy buffer in turn, if that is free (measured, half round trips of
/// 16 KiB: 2.6 us in 128 KiB, 6 us in 4 MiB).
const FAR_AREA: usize = 256 << 10;

/// After each so many payloads in the copy buffer the sender looks how far away the receiver is.
const LOOKS: u32 = 4;

/// One of so many long messages to a far process goes in segments, by which the distance is measured again.
const ASKED_AGAIN: u32 = 16;

/// Whether payloads for this receiver are copied with streaming stores.
fn streams(output: &Output, settings: &FabricSettings) -> bool {
    match settings.copy_stores.get() {
        AUTO => output.ring.distance().is_far(),
        stores => stores == STREAMING,
    }
}

impl Endpoint {
    /// Bytes of the segments in which [`Self::push_segments`] is to push a payload: the receiver copies one while this
    /// process writes the next. `None`: it goes as one record.
    pub fn segment_bytes(&self, dest: u32, len: usize) -> Option<usize> {
        let output = self.outputs.get(dest as usize).filter(|output| output.local.is_some())?;
        let segment = match streams(output, self.settings) {
            true => (len / 2).clamp(4 << 10, 16 << 10),
            false => (len / 4).clamp(2 << 10, 16 << 10),
        };
        (len > segment && len <= self.buffer.longest()).then_some(segment.next_multiple_of(LINE))
    }

    /// Whether long data for `dest` is there sooner in segments than by a copy between the processes' memories: between
    /// near cores, and now and then between far ones, so that a move is noticed.
    pub fn prefers_segments(&mut self, dest: u32) -> bool {
        let output = self.outputs.get_mut(dest as usize).filter(|output| output.local.is_some());
        output.is_some_and(|output| {
            output.asked = output.asked.wrapping_add(1);
            !output.ring.distance().is_far() || output.asked.is_multiple_of(ASKED_AGAIN)
        })
    }

    /// Longest payload in bytes that [`Self::push_segments`] takes, or [`Self::push`] if that is more.
    pub fn longest_segmented(&self) -> usize {
        if self.outputs.is_empty() { self.max_payload } else { self.max_payload.max(self.buffer.longest()) }
    }

    /// Appends a payload as several records through the copy buffer, or none if there is no room for all: `first`, then
    /// records of the kind `rest`, whose word `a` is the offset of their part. `segment`: what [`Self::segment_bytes`]
    /// says, a multiple of a line if there is more than one. `Full`, which is not counted: to be tried by [`Self::push`].
    pub fn push_segments(
        &mut self,
        dest: u32,
        first: &RecordHead,
        rest: u8,
        payload: &[u8],
        segment: usize,
    ) -> Result<(), Full> {
        let count = payload.len().div_ceil(segment);
        // Neither the buffer nor the ring would ever have room for more.
        if payload.len() > self.buffer.longest() || count.saturating_sub(1) * LINE > self.max_payload {
            return Err(Full);
        }
        let output = self.outputs.get_mut(dest as usize).filter(|output| output.local.is_some()).ok_or(Full)?;
        let streams = streams(output, self.settings);
        let area = if streams { FAR_AREA } else { usize::MAX };
        if !output.ring.fits_lines(count) {
            // A single record of so many lines needs as much room.
            self.make_room(dest, if count == 1 { 0 } else { (count - 1) * LINE })?;
        }
        let Endpoint { outputs, buffer, .. } = self;
        let has_read = |dest: u32, position| outputs[dest as usize].ring.has_read(position);
        let start = buffer.find(payload.len(), area, has_read);
        let output = &mut outputs[dest as usize];
        let Some(start) = start else {
            if self.rings.get().is_some_and(|rings| rings[dest as usize].used.is_watched()) {
                // The next record is to make room itself, and so to store what is in use.
                output.ring.limit(None);
            }
            return Err(Full);
        };
        output.pushed_away = output.pushed_away.wrapping_add(1);
        if output.pushed_away.is_multiple_of(LOOKS) {
            output.ring.look();
            if let Some(rings) = self.rings.get() {
                rings[dest as usize].distance.set(output.ring.distance().ns().into());
            }
        }
        let mut head = *first;
        for (i, part) in payload.chunks(segment).enumerate() {
            let offset = start + i * segment;
            // SAFETY: the part was found free, so no receiver reads there; it has whole lines. The ring has room for
            // `count` lines.
            unsafe {
                match streams {
                    true => copy_streaming(part.as_ptr(), buffer.at(offset), part.len()),
                    false => std::ptr::copy_nonoverlapping(part.as_ptr(), buffer.at(offset), part.len()),
                }
                output.ring.push_away(&head, part.len(), offset);
            }
            if i == 0 {
                output.notify(self.fenced, self.variables);
            }
            head = RecordHead { kind: rest, a: ((i + 1) * segment) as u64, ..RecordHead::default() };
        }
        buffer.taken(start, payload.len(), dest, output.ring.position());
        if count > 1 {
            output.notify(self.fenced, self.variables);
        }
        self.show_used(dest);
        Ok(())
    }
}

//! Longer payloads: through cells or the copy buffer, in segments, so that the receiver copies one while this process
//! writes the next.
//!
//! How they are copied and which part of the buffer they use follows the distance of the receiver.
//! Invariant: all records of a payload are pushed, or none.
//! Not here: the buffer (`copy_buffer`), which cells a process has (`cells`), the measurement (`ring::distance`), what a segment is to the receiver (`mpi-p2p`).

use super::Endpoint;
use crate::layout::{CELL_BYTES, LINE, MOST_CELLS};
use crate::peer::Output;
use crate::record::{Full, RecordHead};
use crate::settings::{AUTO, FabricSettings, RING, STREAMING};
use crate::streaming::copy_streaming;
use crate::transport::{Transport, Way};

/// Payloads for far receivers use so much of the copy buffer in turn, if that is free (measured, half round trips of
/// 16 KiB: 2.6 us in 128 KiB, 6 us in 4 MiB).
const FAR_AREA: usize = 256 << 10;

/// After each so many payloads in the copy buffer the sender looks how far away the receiver is.
const LOOKS: u32 = 4;

/// Payloads for near receivers use so much in turn: more than the second-level caches of both, and little enough for the one
/// that the cores share (measured, half round trips of 256 KiB: 10.9 us, in 1 MiB 13.1, in 4 MiB 13.4).
const NEAR_AREA: usize = 2 << 20;

/// Payloads of up to so many bytes to a near receiver go as one record if there is a cell (measured, half round trips of
/// 16 KiB: 0.75 us in two segments, 0.82 in one and 0.81 in four).
const LONGEST_WHOLE: usize = 8 << 10;

/// What a payload is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A message of which all data follows at once.
    Whole,
    /// A longer message, whose receiver takes one part after the other.
    Part,
}

/// Whether payloads for this receiver are copied with streaming stores.
fn streams(output: &Output, settings: &FabricSettings, extent: Extent) -> bool {
    match (settings.copy_stores.get(), extent) {
        (AUTO, Extent::Whole) => output.ring.distance().streams(),
        (AUTO, Extent::Part) => output.ring.distance().is_far(),
        (stores, _) => stores == STREAMING,
    }
}

impl Endpoint {
    /// Bytes of the segments in which [`Self::push_segments`] or [`Self::push_ahead`] is to push a payload: the receiver copies
    /// one while this process writes the next. `None`: it goes as one record.
    pub fn segment_bytes(&self, dest: u32, len: usize, extent: Extent) -> Option<usize> {
        let output = self.outputs.get(dest as usize).filter(|output| output.local.is_some())?;
        if self.permits_cells() && output.cells.len() >= len.div_ceil(CELL_BYTES).max(2) {
            // Between near cores halves of one cell's length are faster, as the receiver copies one meanwhile; between far ones
            // each record takes as long as several KiB.
            let whole = if output.ring.distance().is_far() { CELL_BYTES } else { LONGEST_WHOLE };
            let segment = if len <= CELL_BYTES { (len / 2).next_multiple_of(LINE) } else { CELL_BYTES };
            return (len > whole).then_some(segment);
        }
        let segment = match streams(output, self.settings, extent) {
            true => (len / 2).clamp(4 << 10, 16 << 10),
            false => (len / 4).clamp(2 << 10, 8 << 10),
        };
        (len > segment && len <= self.longest_in_buffer()).then_some(segment.next_multiple_of(LINE))
    }

    /// Whether payloads may go through cells, which are written by ordinary stores: not where streaming stores, the copy
    /// buffer or the ring are required.
    #[inline(always)]
    pub(super) fn permits_cells(&self) -> bool {
        self.settings.copy_stores.get() < STREAMING
    }

    /// Longest payload in bytes that goes through the copy buffer: none where the ring is required.
    fn longest_in_buffer(&self) -> usize {
        if self.settings.copy_stores.get() == RING { 0 } else { self.buffer.longest() }
    }

    /// Wakes the receiver of a record with a payload in a cell, and counts it.
    #[inline]
    pub(super) fn pushed_in_cell(&mut self, dest: u32, len: usize) {
        let output = &mut self.outputs[dest as usize];
        output.notify(self.fenced, &self.variables);
        self.variables.buffered_records.incr();
        self.variables.buffered_bytes.add(len as u64);
        if let Some(rings) = self.rings.get() {
            rings[dest as usize].distance.set(output.ring.distance().ns().into());
            if rings[dest as usize].used.is_watched() {
                // The record fitted without a look at the receiver's report.
                output.ring.limit(None);
                self.show_used(dest);
            }
        }
    }

    /// Stores how far away a receiver is, once a handle has been allocated.
    #[inline]
    fn show_distance(&self, dest: u32) {
        if let Some(rings) = self.rings.get() {
            rings[dest as usize].distance.set(self.outputs[dest as usize].ring.distance().ns().into());
        }
    }

    /// Whether a payload of so many bytes fits into the cells that are here for `dest`.
    pub fn has_cells_for(&self, dest: u32, bytes: u64) -> bool {
        let here = self.outputs.get(dest as usize).map_or(0, |output| output.cells.len());
        self.permits_cells() && bytes <= (here * CELL_BYTES) as u64
    }

    /// The best length of a fragment to `dest`, now; `most`: the longest one.
    pub fn fragment_bytes(&self, dest: u32, most: u64) -> u64 {
        match self.outputs.get(dest as usize) {
            Some(output) if self.permits_cells() && output.cells.len() > 0 => most.min(CELL_BYTES as u64),
            _ => most,
        }
    }

    /// Longest payload in bytes that [`Self::push_segments`] takes, or [`Self::push`] if that is more.
    pub fn longest_segmented(&self) -> usize {
        if self.outputs.is_empty() { self.max_payload } else { self.max_payload.max(self.buffer.longest()) }
    }

    /// Appends a payload as several records through cells or the copy buffer, or none if there is no room for all: `first`, then
    /// records of the kind `rest`, whose word `a` is the offset of their part. `segment`: what [`Self::segment_bytes`]
    /// says, a multiple of a line if there is more than one. `Full`, which is not counted: to be tried by [`Self::push`].
    pub fn push_segments(
        &mut self,
        dest: u32,
        first: &RecordHead,
        rest: u8,
        payload: &[u8],
        (segment, extent): (usize, Extent),
    ) -> Result<(), Full> {
        let count = payload.len().div_ceil(segment);
        if self.has_cells(dest, count, count, segment) {
            self.write_cells(dest, count, first, rest, payload, segment);
            return Ok(());
        }
        let place = self.find_room(dest, count, payload.len(), extent)?;
        self.write_segments(dest, place, first, rest, payload, segment);
        Ok(())
    }

    /// Longest message that goes to a rank as one record although the engine's limit is lower: one on the network, whose
    /// protocol for long messages takes more of its round trips.
    #[inline] // without a network a message tests one word
    pub fn whole_bytes(&self, dest: u32) -> u64 {
        self.network_to(dest).map_or(0, |network| network.whole_bytes().min(network.max_payload()) as u64)
    }

    /// Calls a function that pushes many records; those for the network leave together.
    #[inline]
    pub fn gathering<R>(&mut self, push: impl FnOnce(&mut Endpoint) -> R) -> R {
        if let Some(network) = &mut self.network {
            network.gather();
        }
        let pushed = push(self);
        if let Some(network) = &mut self.network {
            network.release();
        }
        pushed
    }

    /// The network, if it connects a rank.
    #[inline]
    fn network_to(&self, dest: u32) -> Option<&dyn Transport> {
        self.network.as_deref().filter(|_| self.way(dest) == Way::Network)
    }

    /// As [`Self::push_segments`], behind a record `lead` with a payload of its own of one line at most. All parts of
    /// `data` are of the kind `rest`.
    pub fn push_ahead(
        &mut self,
        dest: u32,
        (lead, payload): (&RecordHead, &[u8]),
        rest: u8,
        data: &[u8],
        (segment, extent): (usize, Extent),
    ) -> Result<(), Full> {
        let count = data.len().div_ceil(segment);
        let in_cells = self.has_cells(dest, count + 1, count, segment);
        let place = if in_cells { None } else { Some(self.find_room(dest, count + 1, data.len(), extent)?) };
        let output = &mut self.outputs[dest as usize];
        if !output.ring.try_push_line(lead, payload) {
            return Err(Full);
        }
        output.notify(self.fenced, &self.variables);
        let first = RecordHead { kind: rest, ..RecordHead::default() };
        match place {
            Some(place) => self.write_segments(dest, place, &first, rest, data, segment),
            None => self.write_cells(dest, count, &first, rest, data, segment),
        }
        Ok(())
    }

    /// Whether there are so many cells for segments of this length, and room for so many lines in the ring to `dest`.
    fn has_cells(&mut self, dest: u32, lines: usize, cells: usize, segment: usize) -> bool {
        // A peer on a network has a ring that must never get room.
        let shares = |output: &&Output| output.local.is_some() && self.permits_cells();
        let Some(output) = self.outputs.get(dest as usize).filter(shares) else { return false };
        if segment > CELL_BYTES || cells > output.cells.len() || lines.saturating_sub(1) * LINE > self.max_payload {
            return false;
        }
        // A single record of so many lines needs as much room.
        output.ring.fits_lines(lines) || self.make_room(dest, if lines == 1 { 0 } else { (lines - 1) * LINE }).is_ok()
    }

    /// Writes a payload to so many cells, which are here, and appends its records.
    fn write_cells(&mut self, dest: u32, count: usize, first: &RecordHead, rest: u8, payload: &[u8], segment: usize) {
        let output = &mut self.outputs[dest as usize];
        let mut taken = [0; MOST_CELLS];
        output.cells.take_all(count).zip(&mut taken).for_each(|(cell, place)| *place = cell as u8);
        let mut head = *first;
        for (i, (part, cell)) in payload.chunks(segment).zip(taken).enumerate() {
            // SAFETY: the cell was here, a segment is no longer than one, and the ring has room for a line for each.
            unsafe { output.write_cell(&head, part, usize::from(cell)) };
            if i == 0 {
                output.notify(self.fenced, &self.variables);
            }
            head = RecordHead { kind: rest, a: ((i + 1) * segment) as u64, ..RecordHead::default() };
        }
        self.variables.buffered_records.add(count as u64);
        self.variables.buffered_bytes.add(payload.len() as u64);
        if count > 1 {
            output.notify(self.fenced, &self.variables);
        }
        self.show_distance(dest);
        self.show_used(dest);
    }

    /// Finds room for so many lines in the ring to `dest`, and for so many bytes in the copy buffer.
    fn find_room(&mut self, dest: u32, lines: usize, bytes: usize, extent: Extent) -> Result<Place, Full> {
        // Neither the buffer nor the ring would ever have room for more.
        if bytes > self.longest_in_buffer() || lines.saturating_sub(1) * LINE > self.max_payload {
            return Err(Full);
        }
        let output = self.outputs.get_mut(dest as usize).filter(|output| output.local.is_some()).ok_or(Full)?;
        let streams = streams(output, self.settings, extent);
        let area = if streams { FAR_AREA } else { NEAR_AREA };
        if !output.ring.fits_lines(lines) {
            // A single record of so many lines needs as much room.
            self.make_room(dest, if lines == 1 { 0 } else { (lines - 1) * LINE })?;
        }
        let Endpoint { outputs, buffer, .. } = self;
        let has_read = |dest: u32, position| outputs[dest as usize].ring.has_read(position);
        match buffer.find(bytes, area, has_read) {
            Some(start) => Ok(Place { start, streams }),
            None => {
                if self.rings.get().is_some_and(|rings| rings[dest as usize].used.is_watched()) {
                    // The next record is to make room itself, and so to store what is in use.
                    outputs[dest as usize].ring.limit(None);
                }
                Err(Full)
            }
        }
    }

    /// Writes a payload to the place that was found, and appends its records.
    fn write_segments(
        &mut self,
        dest: u32,
        Place { start, streams }: Place,
        first: &RecordHead,
        rest: u8,
        payload: &[u8],
        segment: usize,
    ) {
        let output = &mut self.outputs[dest as usize];
        output.pushed_away = output.pushed_away.wrapping_add(1);
        if output.pushed_away.is_multiple_of(LOOKS) {
            output.ring.look();
            self.show_distance(dest);
        }
        let output = &mut self.outputs[dest as usize];
        let mut head = *first;
        for (i, part) in payload.chunks(segment).enumerate() {
            let offset = start + i * segment;
            // SAFETY: the part was found free, so no receiver reads there; it has whole lines. The ring has room for a
            // line for each part.
            unsafe {
                match streams {
                    true => copy_streaming(part.as_ptr(), self.buffer.at(offset), part.len()),
                    false => std::ptr::copy_nonoverlapping(part.as_ptr(), self.buffer.at(offset), part.len()),
                }
                output.ring.push_away(&head, part.len(), offset);
            }
            if i == 0 {
                output.notify(self.fenced, &self.variables);
            }
            head = RecordHead { kind: rest, a: ((i + 1) * segment) as u64, ..RecordHead::default() };
        }
        self.buffer.taken(start, payload.len(), dest, output.ring.position());
        self.variables.buffered_records.add(payload.len().div_ceil(segment) as u64);
        self.variables.buffered_bytes.add(payload.len() as u64);
        self.variables.copy_buffer_bytes.add(payload.len() as u64);
        if streams {
            self.variables.streamed_bytes.add(payload.len() as u64);
        }
        if payload.len() > segment {
            output.notify(self.fenced, &self.variables);
        }
        self.show_used(dest);
    }
}

/// Where a payload goes in the copy buffer, and how.
struct Place {
    start: usize,
    streams: bool,
}

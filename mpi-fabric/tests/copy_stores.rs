//! `fabric_copy_stores`: the memory that payloads go through with each value, as the performance variables report it.
#![allow(clippy::unwrap_used)] // a failed step panics

use mpi_fabric::{Endpoint, Extent, Payload, RecordHead, Sink};

const AUTO: i32 = 0;
const CACHED: i32 = 1;
const STREAMING: i32 = 2;
const BUFFER: i32 = 3;
const RING: i32 = 4;

/// The payloads that arrived.
#[derive(Default)]
struct Inbox(Vec<u8>);

impl Sink for Inbox {
    fn record(&mut self, _: u32, _: &RecordHead, payload: Payload<'_>) {
        self.0.extend(payload.to_vec());
    }
}

/// Bytes in cells, in the copy buffer, and by streaming stores, of one payload from `one` to `other`.
fn counted(one: &mut Endpoint, other: &mut Endpoint, len: usize, in_segments: bool) -> [u64; 3] {
    let variables = one.instruments();
    let counts =
        || [&variables.buffered_bytes, &variables.copy_buffer_bytes, &variables.streamed_bytes].map(|v| v.get());
    let (dest, before, head) = (other.rank(), counts(), RecordHead::default());
    let data: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
    match if in_segments { one.segment_bytes(dest, len, Extent::Whole) } else { None } {
        Some(segment) => one.push_segments(dest, &head, 1, &data, (segment, Extent::Whole)).unwrap(),
        None => one.push(dest, &head, &data).unwrap(),
    }
    let mut inbox = Inbox::default();
    while inbox.0.len() < len {
        other.poll(&mut inbox).unwrap();
    }
    assert!(inbox.0 == data, "{len} bytes");
    let [buffered, copied, streamed] = [0, 1, 2].map(|i| counts()[i] - before[i]);
    [buffered - copied, copied, streamed]
}

#[test]
fn payloads_go_through_the_memory_that_is_set() {
    let [mut one, mut other]: [Endpoint; 2] = Endpoint::threads(2).unwrap().try_into().ok().unwrap();
    for stores in [AUTO, CACHED, STREAMING, BUFFER, RING, CACHED] {
        one.settings().copy_stores.set(stores);
        other.settings().copy_stores.set(stores);
        for len in [1, 32, 33, 2047, 2048, 5000, 16_000, 24_000] {
            for in_segments in [false, true] {
                let all = len as u64;
                // One cell takes 16 KiB, so that a longer payload goes through cells in segments only.
                let due = match stores {
                    AUTO | CACHED if len > 32 && (len <= 16 << 10 || in_segments) => [all, 0, 0],
                    // The receiver counts as near, or as far, as it was measured.
                    AUTO if len > 32 => continue,
                    CACHED | BUFFER if len >= 2048 => [0, all, 0],
                    STREAMING if len >= 2048 => [0, all, all],
                    _ => [0, 0, 0],
                };
                // A payload goes into the ring when room for its record has to be made first; the next one finds room.
                let mut found = [0; 3];
                for _ in 0..2 {
                    found = counted(&mut one, &mut other, len, in_segments);
                    // The answer brings the cells back.
                    counted(&mut other, &mut one, len, in_segments);
                    if found == due || due[0] == 0 {
                        break;
                    }
                }
                assert_eq!(found, due, "{stores}: {len} bytes, in segments: {in_segments}");
            }
        }
    }
}

#[test]
fn a_payload_that_is_too_long_for_the_ring_is_refused_where_the_ring_is_required() {
    let [mut one, _other]: [Endpoint; 2] = Endpoint::threads(2).unwrap().try_into().ok().unwrap();
    let data = vec![7; one.longest_segmented()];
    assert!(data.len() > one.max_payload());
    one.settings().copy_stores.set(RING);
    assert_eq!(one.segment_bytes(1, data.len(), Extent::Whole), None);
    let head = RecordHead::default();
    assert!(one.push_segments(1, &head, 1, &data, (16 << 10, Extent::Whole)).is_err());
    assert!(one.push(1, &head, &data).is_err());
    one.settings().copy_stores.set(BUFFER);
    assert!(one.push_segments(1, &head, 1, &data, (16 << 10, Extent::Whole)).is_ok());
}

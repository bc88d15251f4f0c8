//! Packets: what travels in one message of the provider.
//!
//! A packet is a header of 40 bytes, in the first ones of a connection the address of the sender, and records. All lengths are
//! multiples of 8, so that the payload of a record is aligned. Processes of one job run on machines of one byte order.
//! Invariant: a packet that was parsed has only whole records, of lengths inside of it.

use mpi_fabric::RecordHead;

/// Bytes of a header.
pub const HEADER: usize = 40;
/// Bytes of the head of a record.
pub const RECORD: usize = 32;
/// First word of each packet; it changes with the format.
const MAGIC: u32 = 0x4650_4e31;
/// The header's flag of a packet that carries records, and takes a credit.
const DATA: u16 = 1;

/// The fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The sender: its world rank, or its number among the processes of a connection of jobs.
    pub from: u32,
    /// The connection of jobs by which the packet comes; 0: both processes are of one job.
    pub connection: u64,
    /// Shows that the sender has the secret of the job, or of the connection.
    pub token: u64,
    /// Number of the packet among those with records of this pair, from 0.
    pub sequence: u64,
    /// How many packets with records the sender has taken from the receiver since the last report.
    pub credits: u32,
    /// Whether the packet carries records.
    pub data: bool,
    /// Length of the address behind the header; 0: none.
    pub address: u16,
}

fn padded(bytes: usize) -> usize {
    (bytes + 7) & !7
}

/// Bytes of a record with a payload of `len` bytes.
pub fn record_bytes(len: usize) -> usize {
    RECORD + padded(len)
}

impl Header {
    /// Writes it. Panics if there is no room.
    pub fn write(&self, packet: &mut [u8]) {
        let flags = if self.data { DATA } else { 0 };
        packet[0..4].copy_from_slice(&MAGIC.to_ne_bytes());
        packet[4..8].copy_from_slice(&self.from.to_ne_bytes());
        packet[8..16].copy_from_slice(&self.token.to_ne_bytes());
        packet[16..24].copy_from_slice(&self.sequence.to_ne_bytes());
        packet[24..28].copy_from_slice(&self.credits.to_ne_bytes());
        packet[28..30].copy_from_slice(&flags.to_ne_bytes());
        packet[30..32].copy_from_slice(&self.address.to_ne_bytes());
        packet[32..40].copy_from_slice(&self.connection.to_ne_bytes());
    }

    /// The header of a packet; `None` if it is none.
    pub fn read(packet: &[u8]) -> Option<Header> {
        if packet.len() < HEADER || word32(packet, 0) != MAGIC {
            return None;
        }
        let flags = u16::from_ne_bytes([packet[28], packet[29]]);
        let address = u16::from_ne_bytes([packet[30], packet[31]]);
        let whole = flags & !DATA == 0 && HEADER + padded(address.into()) <= packet.len();
        whole.then(|| Header {
            from: word32(packet, 4),
            connection: word64(packet, 32),
            token: word64(packet, 8),
            sequence: word64(packet, 16),
            credits: word32(packet, 24),
            data: flags & DATA != 0,
            address,
        })
    }

    /// Where the records begin.
    pub fn records_at(&self) -> usize {
        HEADER + padded(self.address.into())
    }
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn word64(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Appends a record to a packet of `len` bytes; the length with it. Panics if there is no room.
pub fn append(packet: &mut [u8], len: usize, head: &RecordHead, payload: &[u8]) -> usize {
    let record = &mut packet[len..len + record_bytes(payload.len())];
    record[0] = head.kind;
    record[1] = head.flags;
    record[2..4].fill(0);
    record[4..8].copy_from_slice(&(payload.len() as u32).to_ne_bytes());
    record[8..12].copy_from_slice(&head.context.to_ne_bytes());
    record[12..16].copy_from_slice(&head.tag.to_ne_bytes());
    record[16..24].copy_from_slice(&head.a.to_ne_bytes());
    record[24..32].copy_from_slice(&head.b.to_ne_bytes());
    record[RECORD..RECORD + payload.len()].copy_from_slice(payload);
    len + record.len()
}

/// The record at an offset of a packet: its head, where its payload begins, its length, and where the next one begins. `None`
/// if it is not whole.
pub fn record_at(packet: &[u8], at: usize) -> Option<(RecordHead, usize, usize, usize)> {
    let record = packet.get(at..)?;
    if record.len() < RECORD {
        return None;
    }
    let len = word32(record, 4) as usize;
    if record_bytes(len) > record.len() || record[2..4] != [0; 2] {
        return None;
    }
    let head = RecordHead {
        kind: record[0],
        flags: record[1],
        context: word32(record, 8),
        tag: word32(record, 12) as i32,
        a: word64(record, 16),
        b: word64(record, 24),
    };
    Some((head, at + RECORD, len, at + record_bytes(len)))
}

/// Whether a packet consists of whole records from an offset on.
pub fn is_whole(packet: &[u8], records_at: usize) -> bool {
    let mut at = records_at;
    while at < packet.len() {
        match record_at(packet, at) {
            Some((_, _, _, next)) => at = next,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> Header {
        Header { from: 3, connection: 5, token: 7, sequence: 9, credits: 2, data: true, address: 11 }
    }

    #[test]
    fn a_packet_is_read_as_it_was_written() {
        let mut packet = vec![0xaa; 400];
        header().write(&mut packet);
        let head = RecordHead { kind: 1, flags: 2, context: 3, tag: -4, a: 5, b: 6 };
        let first = header().records_at();
        assert_eq!(first, 56);
        let len = append(&mut packet, first, &head, b"abc");
        let len = append(&mut packet, len, &RecordHead::default(), &[]);
        packet.truncate(len);
        assert_eq!(Header::read(&packet), Some(header()));
        let (read, at, bytes, next) = record_at(&packet, first).expect("a record");
        assert_eq!((read, &packet[at..at + bytes]), (head, &b"abc"[..]));
        assert_eq!(record_at(&packet, next), Some((RecordHead::default(), next + 32, 0, len)));
        assert!(is_whole(&packet, first));
        packet.truncate(len - 1);
        assert!(!is_whole(&packet, first));
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused_or_have_whole_records(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..300), valid: bool, lengths in proptest::collection::vec(0u32..80, 4)
        ) {
            if valid && bytes.len() >= 200 {
                Header { address: 0, ..header() }.write(&mut bytes);
                let mut at = HEADER;
                for len in lengths {
                    bytes[at + 4..at + 8].copy_from_slice(&len.to_ne_bytes());
                    at = (at + record_bytes(len as usize)).min(bytes.len() - 8);
                }
            }
            if let Some(read) = Header::read(&bytes) {
                prop_assert!(read.records_at() <= bytes.len());
                let mut at = read.records_at();
                let whole = is_whole(&bytes, at);
                while let Some((_, payload, len, next)) = record_at(&bytes, at) {
                    prop_assert!(payload + len <= next && next <= bytes.len() && next > at);
                    at = next;
                }
                prop_assert_eq!(whole, at == bytes.len());
            }
        }
    }
}

//! Packets of peers that are none of this library.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::instruments::NetInstruments;

const PEERS: u32 = 3;
/// A buffer that the provider does not have.
const SPARE: u32 = RECEIVES as u32;

#[derive(Default)]
struct Inbox(Vec<(u32, usize)>);

impl Sink for Inbox {
    fn record(&mut self, from: u32, _: &RecordHead, payload: Payload<'_>) {
        self.0.push((from, payload.to_vec().len()));
    }
}

static METERS: LazyLock<&'static NetInstruments> = LazyLock::new(|| mpi_t::place(&mpi_t::HeapMemory, ""));

fn meters() -> Meters {
    let meters = Meters::default();
    meters.count_in(&METERS);
    meters
}

/// A network; `None` without libfabric, of which the test reports that it is skipped.
fn network() -> Option<Network> {
    let settings = NetSettings::new();
    mpi_t::Cell::write(&settings.provider, &mpi_t::Value::Text("tcp".into())).expect("a setting");
    match Network::open(settings, &Options { rank: 0, size: PEERS, secret: 9, job: None, meters: meters() }) {
        Ok(network) => Some(network),
        Err(why) => {
            eprintln!("skipped: {why}");
            None
        }
    }
}

fn forget(inner: &mut Inner) {
    inner.lost.clear();
    inner.creditors.clear();
    for peer in &mut inner.peers {
        (peer.lost, peer.credits, peer.owed, peer.takes) = (None, CREDITS, 0, 0);
        peer.early.clear();
    }
}

proptest! {
    /// Whatever comes, records are handed out only from whole packets of the job, and the credits stay within their limits.
    #[test]
    fn any_packet_is_taken_or_refused(
        packets in proptest::collection::vec((
            (0u32..PEERS + 1, any::<bool>(), 0u64..12, 0u32..10, any::<bool>(), 0u16..300),
            proptest::collection::vec(any::<u8>(), 0..400),
            proptest::collection::vec((0usize..500, any::<u8>()), 0..3),
            any::<bool>(),
        ), 1..12),
    ) {
        thread_local!(static NETWORK: Option<Network> = network());
        NETWORK.with(|network| {
            let Some(network) = network else { return Ok(()) };
            let inner = &mut *network.shared.lock();
            forget(inner);
            for ((from, genuine, sequence, credits, data, address), tail, changes, whole) in packets {
                let token = inner.secret.token(from, if genuine { 0 } else { 2 });
                let header = Header { from, connection: 0, token, sequence, credits, data, address: address.min(tail.len() as u16) };
                let mut packet = vec![0; header.records_at()];
                header.write(&mut packet);
                match whole {
                    true => {
                        let at = packet.len();
                        packet.resize(at + packet::record_bytes(tail.len()), 0);
                        packet::append(&mut packet, at, &RecordHead::default(), &tail);
                    }
                    false => packet.extend(&tail),
                }
                for (at, byte) in changes {
                    if let Some(place) = packet.get_mut(at) {
                        *place ^= byte;
                    }
                }
                inner.buffers.at(SPARE)[..packet.len()].copy_from_slice(&packet);
                let (refused, mut inbox) = (METERS.packets_refused.get(), Inbox::default());
                let seen = inner.take(SPARE, packet.len(), &mut inbox);
                prop_assert_eq!(seen, inbox.0.len());
                let read = Header::read(&packet);
                let proven = read.is_some_and(|it| it.connection == 0 && it.from < PEERS && it.token == inner.secret.token(it.from, 0));
                prop_assert_eq!(METERS.packets_refused.get() - refused, u64::from(!proven));
                prop_assert!(seen == 0 || proven);
                for peer in &inner.peers {
                    prop_assert!(peer.credits <= CREDITS && peer.early.len() < CREDITS as usize);
                    prop_assert!(peer.early.keys().all(|number| *number > peer.takes));
                }
            }
            Ok(())
        })?;
    }
}

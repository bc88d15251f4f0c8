//! Connections by the network of processes of different jobs that share no memory.
//!
//! The first process chooses the number of the connection and its secret. They reach the others in messages of their jobs and over
//! the connection of the two leaders.
//! Invariant: a pair that has a route in both processes keeps it, because messages of a pair keep their order; otherwise both use
//! the new one.

use mpi_core::abi::{MPI_ERR_INTERN, MPI_ERR_OTHER};
use mpi_errors::{Error, Result};
use mpi_fabric::{PeerPins, RemotePeer, host};
use mpi_p2p::Engine;

use super::{Members, failed, in_all};

/// Words of the longest address that is exchanged, the first of which is its length in bytes.
const ADDRESS_WORDS: usize = 80;
/// Words in which a process reports its routes to so many others, in one exchange.
const ROUTE_WORDS: usize = 16;

/// Connects this process with those of other jobs that share no memory with it. They are accepted from now on; all processes have
/// connected when this returns.
pub(super) fn by_network(engine: &Engine, members: &Members<'_>) -> Result<(Vec<RemotePeer>, PeerPins)> {
    let has_remote = (0..members.ids.len()).any(|place| members.is_remote([members.own, place]));
    let address = if has_remote { engine.network_address(&mut engine.lock()) } else { Ok(String::new()) };
    let own = address.and_then(|address| words_of(&address));
    let class = own.as_ref().err().map_or(0, |error| error.class() as u64);
    let is_first = members.own == 0;
    let chosen = if is_first { host::random_words::<3>() } else { Ok([0; 3]) };
    let refused = u64::from(chosen.is_err()) * MPI_ERR_OTHER as u64;
    let mut addresses = Vec::new();
    for part in 0..ADDRESS_WORDS / 16 {
        let words: [u64; 16] = std::array::from_fn(|at| own.as_ref().map_or(0, |own| own[16 * part + at]));
        addresses.push(members.all(words)?);
    }
    let [connection, low, high] = *chosen.as_ref().unwrap_or(&[0; 3]);
    let all = members.all([class.max(refused), connection, low, high])?;
    own?;
    chosen.map_err(|error| Error::new(MPI_ERR_OTHER, format!("the system has no random numbers: {error}")))?;
    if let Some([class, ..]) = all.iter().find(|[class, ..]| *class != 0) {
        return Err(failed(*class));
    }
    let [_, connection, low, high] = all[0];
    let routes = routes(engine, members)?;
    let to_connect = |place: &usize| {
        let (own, theirs) = (routes[members.own][*place], routes[*place][members.own]);
        members.is_remote([members.own, *place]) && !(own && theirs)
    };
    let peer = |place: usize| {
        let words: Vec<u64> = addresses.iter().flat_map(|part| part[place]).collect();
        Ok(RemotePeer {
            id: members.ids[place],
            address: text_of(&words)?,
            connection: connection.max(1),
            secret: u128::from(high) << 64 | u128::from(low),
            own: members.own as u32,
            theirs: place as u32,
        })
    };
    let peers: Result<Vec<RemotePeer>> = (0..members.ids.len()).filter(to_connect).map(peer).collect();
    let connected = peers.and_then(|peers| {
        let pins = engine.connect_remote(&mut engine.lock(), &peers)?;
        Ok((peers, pins))
    });
    in_all(members, connected)
}

/// By place of each process: which places it has a route to.
fn routes(engine: &Engine, members: &Members<'_>) -> Result<Vec<Vec<bool>>> {
    let own: Vec<bool> = {
        let guard = engine.lock();
        members.ids.iter().map(|id| engine.has_route(&guard, *id)).collect()
    };
    let mut routes = vec![Vec::with_capacity(own.len()); own.len()];
    for part in own.chunks(64 * ROUTE_WORDS) {
        let mut words = [0u64; ROUTE_WORDS];
        (0..).zip(part).for_each(|(at, has)| words[at / 64] |= u64::from(*has) << (at % 64));
        for (all, words) in routes.iter_mut().zip(members.all(words)?) {
            all.extend((0..part.len()).map(|at| words[at / 64] >> (at % 64) & 1 != 0));
        }
    }
    Ok(routes)
}

/// A text as words: its length, and its bytes.
fn words_of(text: &str) -> Result<[u64; ADDRESS_WORDS]> {
    let mut words = [0u64; ADDRESS_WORDS];
    if text.len() > 8 * (ADDRESS_WORDS - 1) {
        let rule =
            format!("the address of this process for other jobs has {} bytes, more than are exchanged", text.len());
        return Err(Error::new(MPI_ERR_OTHER, rule));
    }
    words[0] = text.len() as u64;
    for (at, byte) in text.bytes().enumerate() {
        words[1 + at / 8] |= u64::from(byte) << (8 * (at % 8));
    }
    Ok(words)
}

/// The text that [`words_of`] has made words of. They come from another process.
fn text_of(words: &[u64]) -> Result<String> {
    let malformed = || Error::new(MPI_ERR_INTERN, "a process of the other group sent an address that is none");
    let bytes: Vec<u8> = words.iter().skip(1).flat_map(|word| word.to_le_bytes()).collect();
    let length = words.first().and_then(|length| usize::try_from(*length).ok()).ok_or_else(malformed)?;
    let text = bytes.get(..length).ok_or_else(malformed)?;
    String::from_utf8(text.to_vec()).map_err(|_| malformed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_exchanged_as_words() {
        for length in [0, 1, 7, 8, 9, 300, 8 * (ADDRESS_WORDS - 1)] {
            let text: String = ('a'..='z').cycle().take(length).collect();
            assert_eq!(text_of(&words_of(&text).expect("it fits")).expect("a text"), text);
        }
        assert!(words_of(&"a".repeat(8 * (ADDRESS_WORDS - 1) + 1)).is_err());
        for bad in [&[][..], &[1], &[9, 0], &[u64::MAX, 0], &[1, 0xff]] {
            assert!(text_of(bad).is_err(), "{bad:?}");
        }
    }
}

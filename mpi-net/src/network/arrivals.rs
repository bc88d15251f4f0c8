//! Packets that arrive: the receives for them, checks, credits, the order of a pair, and the records in them.

use super::*;

impl Inner {
    /// Whether there are fewer receives than there should be.
    pub(super) fn lacks_receives(&self) -> bool {
        self.posted < (self.partners * CREDITS as usize).min(RECEIVES) && !self.unposted.is_empty()
    }

    /// Posts receives: as many as the peers with which packets were exchanged may send to, so that the caches keep the buffers.
    pub(super) fn post_receives(&mut self) {
        while self.lacks_receives() {
            let Some(number) = self.unposted.pop() else { return };
            let at = self.buffers.at(number).as_mut_ptr();
            let operation = &raw mut self.operations[number as usize];
            // SAFETY: the buffer and the operation stay until the provider is closed, and no other code uses them until the
            // receive completes.
            if unsafe { self.provider.receive(at, BUFFER, self.region, operation) } != 0 {
                self.unposted.push(number);
                return;
            }
            self.posted += 1;
        }
    }

    /// Takes completions.
    pub(super) fn progress(&mut self) {
        let Inner { provider, arrived, free, under_way, receivers, unposted, posted, news, .. } = self;
        let mut failed = Vec::new();
        let status = provider.poll(|Completion { operation, bytes, error }| {
            if operation.is_null() {
                // Of a send from memory that is free already.
                return;
            }
            // SAFETY: the provider passes the address of an operation that this process started, which stays until now.
            let (kind, number) = unsafe { ((*operation).kind, (*operation).number) };
            match kind {
                Kind::Copy => {
                    let done = if error == 0 { 1 } else { -i64::from(error) };
                    // SAFETY: as above; the thread that waits reads it under the same lock.
                    unsafe { (*operation).number = done };
                    // Another thread may sleep until it is there.
                    *news = true;
                }
                Kind::Receive => {
                    *posted -= 1;
                    match error {
                        0 => arrived.push_back((number as u32, bytes)),
                        _ => unposted.push(number as u32),
                    }
                }
                Kind::Send => {
                    *under_way -= 1;
                    free.push(number as u32);
                    if error != 0 {
                        failed.push((receivers[number as usize - RECEIVES], error));
                    }
                }
            }
        });
        if status < 0 && self.failure.is_none() {
            self.news = true;
            self.failure = Some(format!("the network cannot be polled: {}", self.provider.text(status)));
        }
        for (peer, error) in failed {
            if peer != u32::MAX {
                self.lose_connection(peer, error.into());
            }
        }
    }

    /// Hands out the records of a packet; the number of records.
    pub(super) fn take(&mut self, number: u32, bytes: usize, sink: &mut dyn Sink) -> usize {
        let words = &self.buffers.words(number)[..bytes.min(BUFFER).div_ceil(8)];
        let packet = &bytes_of(words)[..bytes.min(BUFFER)];
        let valid = Header::read(packet).and_then(|header| {
            let number = match header.connection {
                // A rank of this job; a number above has no identity to prove while no process has it.
                0 if header.from < self.size => header.from,
                0 => return None,
                connection => self.of_connections.get(&(connection, header.from)).copied()?,
            };
            let identity = self.peers.get(number as usize)?.identity;
            let is_of_peer = identity.connection == header.connection && header.token == identity.token_from();
            is_of_peer.then_some((number, header))
        });
        let Some((from, header)) = valid else {
            self.meters.with(|meters| meters.packets_refused.incr());
            return 0;
        };
        let peer = &mut self.peers[from as usize];
        if peer.dials_late {
            peer.dial_where_it_listens(from, self.liveness.as_ref());
        }
        if peer.lost.is_some() {
            return 0;
        }
        let whole = packet::is_whole(packet, header.records_at());
        if !whole || peer.credits.saturating_add(header.credits) > CREDITS || header.address as usize > ADDRESS {
            self.lose(from, format!("{} sent a packet that is none of this library", self.name_of(from)));
            return 0;
        }
        peer.credits += header.credits;
        peer.heard = true;
        if header.address > 0 && peer.address.is_none() {
            let address = &packet[HEADER..HEADER + header.address as usize];
            match self.provider.insert(address) {
                Ok(address) => peer.address = Some(address),
                Err(error) => {
                    self.lose(from, format!("{} cannot be reached: {error}", self.name_of(from)));
                    return 0;
                }
            }
        }
        if !header.data {
            return 0;
        }
        let ahead = header.sequence.wrapping_sub(peer.takes);
        if ahead >= u64::from(CREDITS) || peer.early.contains_key(&header.sequence) {
            self.lose(from, format!("{} sent packet {} again, or too early", self.name_of(from), header.sequence));
            return 0;
        }
        if ahead > 0 {
            peer.early.insert(header.sequence, words.to_vec());
            return 0;
        }
        let (mut seen, mut data) = hand_out(from, words, bytes, sink);
        if peer.takes == 0 && peer.sends == 0 {
            self.partners += 1;
        }
        peer.takes += 1;
        peer.owed += 1;
        while let Some(words) = peer.early.remove(&peer.takes) {
            // The length of a packet is a multiple of 8.
            let more = hand_out(from, &words, words.len() * 8, sink);
            (seen, data) = (seen + more.0, data + more.1);
            peer.takes += 1;
            peer.owed += 1;
        }
        if peer.owed >= MOST_OWED {
            self.creditors.push(from);
        }
        self.meters.with(|meters| {
            meters.records_received.add(seen as u64);
            meters.bytes_received.add(data as u64);
        });
        seen
    }
}

/// Passes the records of a whole packet on; their number, and that of the bytes of data in them.
fn hand_out(from: u32, words: &[u64], bytes: usize, sink: &mut dyn Sink) -> (usize, usize) {
    let packet = &bytes_of(words)[..bytes];
    let Some(header) = Header::read(packet) else { return (0, 0) };
    let (mut at, mut seen, mut data) = (header.records_at(), 0, 0);
    while let Some((head, payload, len, next)) = packet::record_at(packet, at) {
        sink.record(from, &head, Payload::from_words(&words[payload / 8..], len));
        (seen, data) = (seen + 1, data + len);
        at = next;
    }
    (seen, data)
}

#[cfg(test)]
mod tests;

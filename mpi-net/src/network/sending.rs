//! Packets that leave: at once with a credit, together when one comes back, and credits that travel alone.
//!
//! Not here: records (`push` in the module above).

use super::*;

impl Inner {
    /// Sends the packet of a peer that waits, if it may leave now.
    pub(super) fn flush(&mut self, dest: u32) {
        let Some((buffer, len)) = self.peers[dest as usize].open else { return };
        let peer = &self.peers[dest as usize];
        if peer.credits == 0 && peer.departed {
            return self.drop_open(dest);
        }
        if peer.credits == 0 {
            return self.list(dest);
        }
        let Some(address) = self.address(dest) else { return };
        let peer = &mut self.peers[dest as usize];
        let own = if peer.introduced { 0 } else { self.own_address.len() };
        let header = Header {
            from: peer.identity.own,
            connection: peer.identity.connection,
            token: peer.identity.token_to(),
            sequence: peer.sends,
            credits: peer.owed,
            data: true,
            address: own as u16,
        };
        let packet = self.buffers.at(buffer);
        header.write(packet);
        packet[HEADER..HEADER + own].copy_from_slice(&self.own_address[..own]);
        packet[HEADER + own..header.records_at()].fill(0);
        // Errors of what is sent at once are not reported. The last one before a credit comes back is, or nothing would be sent
        // any more that shows a lost connection.
        let at_once = len <= self.provider.facts.inject_bytes && peer.credits > 1 && !self.settles;
        let operation = if at_once { null_mut() } else { &raw mut self.operations[buffer as usize] };
        // SAFETY: the buffer and the operation stay until the provider is closed, and no other code uses them until the
        // send completes: the buffer is not free.
        match unsafe { self.provider.send(address, &packet[..len], self.region, operation) } {
            0 => {
                peer.introduced = true;
                peer.untaken_since = None;
                peer.owed = 0;
                peer.credits -= 1;
                if peer.takes == 0 && peer.sends == 0 {
                    self.partners += 1;
                }
                peer.sends += 1;
                self.meters.with(|meters| meters.packets_sent.incr());
                peer.burst = if peer.burst_from == self.polls { peer.burst + 1 } else { 1 };
                peer.burst_from = self.polls;
                peer.open = None;
                peer.unreported = at_once;
                match at_once {
                    true => self.free.push(buffer),
                    false => {
                        self.under_way += 1;
                        self.receivers[buffer as usize - RECEIVES] = dest;
                    }
                }
            }
            error if error == -i64::from(ffi::FI_EAGAIN) => {
                if !self.takes_nothing(dest) {
                    // Only a poll sends it.
                    self.news = true;
                    self.list(dest);
                }
            }
            error => self.lose_connection(dest, error),
        }
    }

    pub(super) fn list(&mut self, dest: u32) {
        let peer = &mut self.peers[dest as usize];
        if !peer.listed {
            peer.listed = true;
            self.waiting.push(dest);
        }
    }

    /// Sends what may leave now, and reports of credits.
    pub(super) fn flush_all(&mut self) {
        for dest in take(&mut self.waiting) {
            self.peers[dest as usize].listed = false;
            self.flush(dest);
        }
        for dest in take(&mut self.creditors) {
            match self.is_unsettled(dest) {
                true => self.send_empty(dest, true),
                false => self.return_credits(dest),
            }
        }
        if self.lacks_receives() {
            self.post_receives();
        }
    }

    /// Reports credits to a peer in a packet of their own, if they are still owed.
    pub(super) fn return_credits(&mut self, dest: u32) {
        let peer = &self.peers[dest as usize];
        if peer.owed < MOST_OWED || peer.is_given_up() || peer.departed {
            return;
        }
        self.send_empty(dest, false);
    }

    /// Has the provider report the last packets to each peer. A provider that sends by the process itself, or by an adapter from memory of
    /// the process, may lose those that it has not reported when the process ends; the system has those of `tcp`.
    pub(super) fn settle(&mut self) {
        if self.provider.facts.provider.starts_with("tcp") {
            return;
        }
        self.settles = true;
        for dest in 0..self.peers.len() as u32 {
            if self.is_unsettled(dest) {
                self.creditors.push(dest);
            }
        }
    }

    /// Whether the process, which is about to end, waits for the report of a packet to this peer that is still to be sent.
    pub(super) fn is_unsettled(&self, dest: u32) -> bool {
        let peer = &self.peers[dest as usize];
        self.settles && peer.unreported && !peer.is_given_up() && !peer.departed
    }

    /// Sends a packet with credits and no records; with a report by the provider, or without one if it sends such packets at once.
    fn send_empty(&mut self, dest: u32, reported: bool) {
        let peer = &self.peers[dest as usize];
        let header = Header {
            from: peer.identity.own,
            connection: peer.identity.connection,
            token: peer.identity.token_to(),
            sequence: 0,
            credits: peer.owed,
            data: false,
            address: 0,
        };
        let Some(address) = self.address(dest) else { return };
        let mut own = [0u8; HEADER];
        header.write(&mut own);
        let sent = match self.provider.facts.inject_bytes >= HEADER && !reported {
            // SAFETY: the bytes are free again when the call returns.
            true => unsafe { self.provider.send(address, &own, Registered::NONE, null_mut()) },
            false => match self.free.pop() {
                None => -i64::from(ffi::FI_EAGAIN),
                Some(buffer) => {
                    self.buffers.at(buffer)[..HEADER].copy_from_slice(&own);
                    let operation = &raw mut self.operations[buffer as usize];
                    let packet = &self.buffers.at(buffer)[..HEADER];
                    // SAFETY: as in `flush`.
                    let sent = unsafe { self.provider.send(address, packet, self.region, operation) };
                    match sent {
                        0 => {
                            self.under_way += 1;
                            self.receivers[buffer as usize - RECEIVES] = dest;
                            self.peers[dest as usize].unreported = false;
                        }
                        _ => self.free.push(buffer),
                    }
                    sent
                }
            },
        };
        match sent {
            0 => self.peers[dest as usize].owed = 0,
            error if error == -i64::from(ffi::FI_EAGAIN) => self.creditors.push(dest),
            error => self.lose_connection(dest, error),
        }
    }
}

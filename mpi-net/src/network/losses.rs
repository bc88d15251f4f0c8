//! Peers that are lost: found by connections of their own (`liveness`).

use std::net::IpAddr;
use std::sync::Weak;

use super::*;

impl Shared {
    /// Starts to watch whether peers are there; an error is why it is not done: it is not wanted, or the system refuses it.
    pub(super) fn watch_peers(
        self: &Arc<Self>,
        options: &Options,
        ip: Option<IpAddr>,
    ) -> std::result::Result<Liveness, String> {
        let seconds = self.settings.timeout.get();
        if seconds == 0 {
            return Err("silence of a host has no time limit".into());
        }
        let config = Config {
            rank: options.rank,
            size: options.size,
            secret: Secret(options.secret),
            silence: Duration::from_secs(seconds.into()),
            ip,
            host: host::name(),
        };
        let shared: Weak<Shared> = Arc::downgrade(self);
        let on_loss = move |peer: u32, host: &str, why: &str| {
            let Some(shared) = shared.upgrade() else { return };
            {
                let mut inner = shared.lock();
                if !host.is_empty() {
                    inner.peers[peer as usize].host = Some(host.into());
                }
                let sentence = inner.sentence(peer, why);
                inner.lose(peer, sentence);
            }
            shared.ring();
        };
        Liveness::start(config, Box::new(on_loss))
            .map_err(|error| format!("the connections that show the end of a peer cannot be made: {error}"))
    }
}

//! The input of the ranks: read here, sent to the hosts that have ranks which get it.
//!
//! Invariant: no more is read than a window of what the ranks have taken, from a terminal no more than a line.

use std::os::fd::AsFd;

use super::super::super::os;
use super::super::frame::{Bytes, Frame};
use super::{Front, INPUT_WINDOW};
use crate::args::Input;

impl Front<'_> {
    /// Hosts with ranks that get the input.
    pub(super) fn fed_hosts(&self) -> impl Iterator<Item = usize> {
        let gets = |rank: &u32| match self.options.input {
            Input::Rank(chosen) => chosen == *rank,
            Input::All => true,
            Input::None => false,
        };
        let lives = |rank: &u32| self.ranks[*rank as usize].living;
        (0..self.hosts.len()).filter(move |host| self.hosts[*host].ranks.iter().any(|rank| gets(rank) && lives(rank)))
    }

    /// Whether input may be read now: ranks are there that get it, and have taken most of what came.
    pub(super) fn may_feed(&self) -> bool {
        let Some(input) = self.input.as_ref().filter(|_| self.started) else { return false };
        let most = if self.input_is_terminal { 1 } else { INPUT_WINDOW };
        let room = self.fed_hosts().all(|host| self.hosts[host].fed < most);
        let wanted = self.fed_hosts().next().is_some();
        wanted && room && (!self.input_is_terminal || os::is_foreground_terminal(input.as_fd()))
    }

    /// Reads input and sends it to the hosts.
    pub(super) fn feed(&mut self) {
        let Some(input) = &self.input else { return };
        let mut buffer = vec![0; INPUT_WINDOW];
        let frame = match os::read(input.as_fd(), &mut buffer) {
            Ok(n) if n > 0 => Frame::Input { bytes: Bytes(buffer[..n].to_vec()) },
            Err(error) if matches!(error.kind(), std::io::ErrorKind::Interrupted | std::io::ErrorKind::WouldBlock) => {
                return;
            }
            Ok(_) | Err(_) => Frame::InputEnd {},
        };
        for host in self.fed_hosts().collect::<Vec<_>>() {
            if let Frame::Input { bytes } = &frame {
                self.hosts[host].fed += bytes.0.len();
            }
            self.hosts[host].send(&frame);
        }
        if frame == (Frame::InputEnd {}) {
            self.input = None;
        }
    }
}

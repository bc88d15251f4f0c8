//! Hosts whose ranks this process has exchanged nothing with, and what is found about them.
#![allow(clippy::unwrap_used)] // a failed step panics

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

use super::super::tests::{HERE, accept_as_peer, start, to_rank};
use super::*;

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind((HERE, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Host "h" with one rank for each port, from rank 1 on; and where each rank whose address is read is reported. Port 0: no address.
fn survey_and_report(own: &Liveness, ports: &[u16], reads: Sender<u32>) {
    let ranks: Vec<u32> = (1..).take(ports.len()).collect();
    let ports = ports.to_vec();
    let read = move |_: &Requests, ranks: &[u32]| {
        let of = |rank: &u32| {
            let _ = reads.send(*rank);
            let port = ports[*rank as usize - 1];
            (*rank, (port != 0).then(|| Place { host: "h".into(), ip: Some(HERE), port }))
        };
        ranks.iter().map(of).collect()
    };
    let hosts = vec![HostRanks { name: "named".into(), ranks }];
    own.requests().survey(Duration::ZERO, Survey { hosts, read: Arc::new(read) });
}

fn survey(own: &Liveness, ports: &[u16]) {
    survey_and_report(own, ports, channel().0);
}

/// A listener that answers no further connection, and those that it has.
fn silent() -> (TcpListener, u16, Vec<TcpStream>) {
    let (listener, port) = listener();
    // SAFETY: a socket that listens; the length of its queue changes.
    assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
    let address = (HERE, port).into();
    let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(300));
    let queued: Vec<TcpStream> = std::iter::from_fn(|| connect().ok()).take(100).collect();
    assert!(queued.len() < 100, "the queue has an end");
    (listener, port, queued)
}

#[test]
fn the_next_rank_of_a_host_is_one_that_may_be_there() {
    let mut hosts = Hosts { list: vec![HostRanks { name: "b".into(), ranks: vec![2, 3] }], ..Hosts::default() };
    assert_eq!((hosts.with(3), hosts.with(7)), (vec![2, 3], vec![7]));
    hosts.departed.insert(2);
    assert_eq!(hosts.next_of(&[2, 3]), Some(3));
    hosts.refused.insert(3);
    assert_eq!(hosts.next_of(&[2, 3]), None);
    hosts.is_there(3);
    assert_eq!(hosts.next_of(&[2, 3]), Some(3));
    hosts.nowhere.insert(3);
    assert_eq!(hosts.next_of(&[2, 3]), None);
}

#[test]
fn a_rank_that_cannot_be_connected_with_is_lost_when_its_host_was_silent_for_the_limit() {
    let (own, losses) = start(0, Duration::from_secs(1));
    let (_listener, port, _queued) = silent();
    own.requests().dial(1, to_rank(1), "h1", Some(HERE), port);
    let (rank, why) = losses.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!((rank, &*why), (1, ": nothing came from its host for 1 s"));
}

#[test]
fn all_ranks_of_a_silent_host_are_lost_when_one_is() {
    let (own, losses) = start(0, Duration::from_secs(1));
    let (_listener, port, _queued) = silent();
    survey(&own, &[port, port, port]);
    let mut ranks = [(); 3].map(|()| losses.recv_timeout(Duration::from_secs(20)).unwrap());
    ranks.sort_unstable();
    let why = "h: nothing came from its host for 1 s";
    assert_eq!(ranks.each_ref().map(|(rank, why)| (*rank, &**why)), [(1, why), (2, why), (3, why)]);
}

#[test]
fn the_others_of_a_host_are_connected_with_when_one_has_ended_and_those_that_refuse_are_lost() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let ((first, first_port), (third, third_port)) = (listener(), listener());
    // Nothing listens at the second one any more.
    let second_port = listener().1;
    survey(&own, &[first_port, second_port, third_port]);
    let mut peer = accept_as_peer(&first);
    peer.write_all(&[ACCEPTED]).unwrap();
    drop((peer, first));
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 5).unwrap().0, 1);
    let mut runs = accept_as_peer(&third);
    runs.write_all(&[ACCEPTED]).unwrap();
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 5).unwrap().0, 2);
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 2), Err(RecvTimeoutError::Timeout), "the third one runs");
}

#[test]
fn a_rank_that_leaves_is_replaced_by_another_one_of_its_host_and_a_refusal_alone_is_no_loss() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let ((first, first_port), (third, third_port)) = (listener(), listener());
    let second_port = listener().1;
    survey(&own, &[first_port, second_port, third_port]);
    let mut peer = accept_as_peer(&first);
    peer.write_all(&[ACCEPTED, LEAVING]).unwrap();
    let mut last = accept_as_peer(&third);
    last.write_all(&[ACCEPTED, LEAVING]).unwrap();
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 2), Err(RecvTimeoutError::Timeout));
}

#[test]
fn the_address_of_one_rank_of_a_host_is_read_and_those_of_others_when_they_are_needed() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let ((first, first_port), (third, third_port)) = (listener(), listener());
    let (sender, reads) = channel();
    survey_and_report(&own, &[first_port, 0, third_port, 9], sender);
    let mut peer = accept_as_peer(&first);
    peer.write_all(&[ACCEPTED]).unwrap();
    assert_eq!(reads.recv().unwrap(), 1);
    assert_eq!(reads.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Timeout), "one is enough");
    peer.write_all(&[LEAVING]).unwrap();
    // The second one listens nowhere.
    let mut last = accept_as_peer(&third);
    last.write_all(&[ACCEPTED]).unwrap();
    assert_eq!(reads.try_iter().collect::<Vec<_>>(), [2, 3]);
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 2), Err(RecvTimeoutError::Timeout));
}

#[test]
fn an_address_that_cannot_be_read_is_read_again() {
    let (own, losses) = start(0, Duration::from_secs(30));
    let (first, port) = listener();
    let reads = AtomicU32::new(0);
    let read = move |_: &Requests, ranks: &[u32]| {
        let place = |rank: &u32| (*rank, Some(Place { host: "h".into(), ip: Some(HERE), port }));
        let can_read = reads.fetch_add(1, Ordering::Relaxed) >= 2;
        if can_read { ranks.iter().map(place).collect() } else { Vec::new() }
    };
    let hosts = vec![HostRanks { name: "h".into(), ranks: vec![1] }];
    own.requests().survey(Duration::ZERO, Survey { hosts, read: Arc::new(read) });
    let mut peer = accept_as_peer(&first);
    peer.write_all(&[ACCEPTED]).unwrap();
    drop(peer);
    assert_eq!(losses.recv_timeout(LOSS_DELAY * 2).unwrap().0, 1);
}

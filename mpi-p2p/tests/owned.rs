//! Operations that own their data: what is accessible when, and what a drop does.

mod common;

use std::sync::Arc;

use common::{CONTEXT, Rank, run_multiple};
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_BUFFER, MPI_ERR_COUNT};
use mpi_datatype::{Datatype, Element, Form};
use mpi_p2p::{Engine, Mode, OwnedMessage, OwnedOperation};

/// The engine of a rank, which exists as long as the process.
fn engine(rank: &Arc<Rank>) -> &'static Engine {
    &Box::leak(Box::new(rank.clone())).engine
}

#[test]
fn data_are_accessible_between_two_operations_alone() {
    run_multiple(1, |rank: Arc<Rank>| {
        let engine = engine(&rank);
        let lock = || engine.lock();
        let mut send = OwnedOperation::send(engine, &mut lock(), CONTEXT, (0, 1), vec![0u32; 4], None, Mode::Standard)
            .expect("made");
        let mut receive =
            OwnedOperation::receive(engine, &mut lock(), CONTEXT, (0, 1), vec![0u32; 4], None).expect("made");
        for round in 1..4u32 {
            send.data_mut().expect("inactive").fill(round);
            receive.start(&mut lock()).expect("inactive");
            assert!(receive.data().is_none() && receive.data_mut().is_none());
            assert_eq!(receive.partition_mut(0).expect_err("the engine writes it").class(), MPI_ERR_ARG);
            assert!(receive.start(&mut lock()).is_err(), "it is active");
            send.start(&mut lock()).expect("inactive");
            assert_eq!(send.partition_mut(0).expect_err("the engine reads it").class(), MPI_ERR_ARG);
            send.wait(lock()).expect("sent");
            assert_eq!(receive.wait(lock()).expect("received").bytes(), 16);
            assert_eq!(receive.data(), Some(&[round; 4][..]));
        }
    });
}

#[test]
fn partitions_are_accessible_until_they_are_ready_and_once_they_have_arrived() {
    run_multiple(1, |rank: Arc<Rank>| {
        let engine = engine(&rank);
        let lock = || engine.lock();
        let make = |parts| OwnedOperation::partitioned_send(engine, &mut lock(), CONTEXT, (0, 1), vec![0u8; 6], parts);
        assert_eq!(make(4).expect_err("not equal").class(), MPI_ERR_COUNT);
        assert_eq!(make(0).expect_err("no partitions").class(), MPI_ERR_COUNT);
        let mut send = make(3).expect("made");
        let mut receive =
            OwnedOperation::partitioned_receive(engine, &mut lock(), CONTEXT, (0, 1), vec![0u8; 6], 2).expect("made");
        receive.start(&mut lock()).expect("inactive");
        assert_eq!(receive.partition_mut(0).expect_err("the engine writes it").class(), MPI_ERR_ARG);
        send.start(&mut lock()).expect("inactive");
        for partition in [2, 1, 0] {
            send.partition_mut(partition).expect("not ready").fill(partition as u8 + 1);
            send.mark_ready(&mut lock(), [(partition, partition)].into_iter()).expect("not ready");
            assert_eq!(send.partition_mut(partition).expect_err("ready").class(), MPI_ERR_ARG);
        }
        assert_eq!(send.partition_mut(3).expect_err("there is none").class(), MPI_ERR_ARG);
        while receive.arrived(1, || ()).expect("a receive").is_none() {}
        assert_eq!(receive.arrived(1, || ()).expect("a receive"), Some(&[2, 3, 3][..]));
        send.wait(lock()).expect("sent");
        receive.wait(lock()).expect("received");
        assert_eq!(receive.data(), Some(&[1, 1, 2, 2, 3, 3][..]));
    });
}

#[test]
fn operations_are_dropped_at_any_time() {
    run_multiple(1, |rank: Arc<Rank>| {
        let engine = engine(&rank);
        let lock = || engine.lock();
        let mut receive =
            OwnedOperation::receive(engine, &mut lock(), CONTEXT, (0, 1), vec![0u32; 4], None).expect("made");
        receive.start(&mut lock()).expect("inactive");
        drop(receive);
        let mut send =
            OwnedOperation::send(engine, &mut lock(), CONTEXT, (0, 2), vec![7u8; 200_000], None, Mode::Standard)
                .expect("made");
        send.start(&mut lock()).expect("inactive");
        drop(send);
        let mut inbox = vec![0u8; 200_000];
        assert_eq!(rank.recv(0, 2, &mut inbox).expect("the send goes on").bytes(), 200_000);
        assert!(inbox.iter().all(|is| *is == 7));
        let mut parts =
            OwnedOperation::partitioned_send(engine, &mut lock(), CONTEXT, (0, 3), vec![7u8; 4], 2).expect("made");
        parts.start(&mut lock()).expect("inactive");
        drop(parts);
    });
}

#[test]
fn a_layout_selects_what_is_sent_and_where_it_is_received() {
    run_multiple(1, |rank: Arc<Rank>| {
        let engine = engine(&rank);
        let lock = || engine.lock();
        let every_second = Datatype::vector(3, 1, 2, u16::datatype(), Form::Large).expect("small").committed();
        let to = (0, 1);
        for length in [0, 4] {
            let data = vec![0u16; length];
            let send =
                OwnedOperation::send(engine, &mut lock(), CONTEXT, to, data, Some(&every_second), Mode::Standard);
            assert_eq!(send.expect_err("too short").class(), MPI_ERR_BUFFER);
            let data = vec![0u16; length];
            let receive = OwnedMessage::receive(engine, &mut lock(), CONTEXT, to, data, Some(&every_second));
            assert_eq!(receive.expect_err("too short").class(), MPI_ERR_BUFFER);
        }
        let data = vec![1u16, 2, 3, 4, 5];
        let mut send =
            OwnedOperation::send(engine, &mut lock(), CONTEXT, to, data, Some(&every_second), Mode::Standard)
                .expect("made");
        let mut receive = OwnedOperation::receive(engine, &mut lock(), CONTEXT, to, vec![9u16; 6], Some(&every_second))
            .expect("made");
        for round in 0..3 {
            send.data_mut().expect("inactive")[2] = round;
            receive.start(&mut lock()).expect("inactive");
            send.start(&mut lock()).expect("inactive");
            send.wait(lock()).expect("sent");
            assert_eq!(receive.wait(lock()).expect("received").bytes(), 6);
            assert_eq!(receive.data(), Some(&[1, 9, round, 9, 5, 9][..]));
        }
    });
}

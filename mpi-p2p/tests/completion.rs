//! Completion of requests: the contents of the status, the counts, and the number of progress passes.

#![allow(unsafe_code)] // requests hold buffers that the tests keep until they are over

mod common;

use common::{CONTEXT, run};
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_TRUNCATE};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_p2p::Mode;

#[test]
fn a_cancelled_send_to_oneself_is_over_in_the_next_test() {
    run(1, |rank| {
        let engine = &rank.engine;
        for (length, mode) in [(8, Mode::Standard), (500_000, Mode::Standard), (8, Mode::Synchronous)] {
            let data = vec![1u8; length];
            // SAFETY: the request is over before the data goes away.
            let buffer = unsafe { SendBuf::from_slice(&data).detach() };
            let send = engine.isend(&mut engine.lock(), CONTEXT, 0, 5, buffer, mode).expect("started");
            engine.cancel(&mut engine.lock(), send).expect("live");
            let completion = engine.test(&mut engine.lock(), send).expect("live").expect("over after one test");
            assert!(completion.status.cancelled(), "{length} bytes, {mode:?}");
            assert_eq!(engine.iprobe(&mut engine.lock(), CONTEXT, 0, 5).expect("no fault"), None);
        }
    });
}

#[test]
fn a_send_to_oneself_that_is_received_is_not_cancelled() {
    run(1, |rank| {
        let engine = &rank.engine;
        let mut inbox = [0; 8];
        let receive = rank.irecv(0, 5, &mut inbox);
        let send = rank.isend(0, 5, &[7; 8]);
        engine.cancel(&mut engine.lock(), send).expect("live");
        let completion = engine.test(&mut engine.lock(), send).expect("live").expect("over after one test");
        assert!(!completion.status.cancelled());
        engine.wait(engine.lock(), receive).expect("live");
        assert_eq!(inbox, [7; 8]);
    });
}

#[test]
fn get_status_that_finds_nothing_complete_counts_as_a_failed_test() {
    run(1, |rank| {
        let mut inbox = [0; 8];
        let receive = rank.irecv(0, 5, &mut inbox);
        let failed = || rank.engine.instruments().failed_tests.get();
        let before = failed();
        assert_eq!(rank.engine.request_get_status(&mut rank.engine.lock(), receive).expect("live"), None);
        assert_eq!(failed(), before + 1);
        rank.send(0, 5, &[7; 8], Mode::Standard);
        assert!(rank.engine.request_get_status(&mut rank.engine.lock(), receive).expect("live").is_some());
        assert_eq!(failed(), before + 1);
        rank.engine.wait(rank.engine.lock(), receive).expect("live");
    });
}

#[test]
fn a_blocking_receive_that_is_truncated_reports_source_tag_and_bytes() {
    run(2, |rank| {
        let engine = &rank.engine;
        for (round, size) in [8usize, 100_000].into_iter().enumerate() {
            if rank.me() == 0 {
                let data = vec![3u8; size];
                (0..3).for_each(|tag| rank.send(1, tag, &data, Mode::Standard));
                rank.recv(1, 9, &mut []).expect("fits");
                continue;
            }
            let mut data = vec![0u8; size / 2];
            let check = |failure: mpi_p2p::ReceiveFailure, tag: i32| {
                let status = failure.status().expect("the message was received");
                assert_eq!((status.source, status.tag, status.bytes()), (0, tag, size as u64 / 2), "round {round}");
                assert_eq!(mpi_errors::Error::from(failure).class(), MPI_ERR_TRUNCATE);
            };
            check(engine.recv(engine.lock(), CONTEXT, 0, 0, RecvBuf::from_slice(&mut data)).expect_err("too long"), 0);
            let (message, _) = engine.mprobe(engine.lock(), CONTEXT, 0, 1).expect("no fault");
            check(engine.mrecv(engine.lock(), message, RecvBuf::from_slice(&mut data)).expect_err("too long"), 1);
            let (out, into) = (SendBuf::empty(), RecvBuf::from_slice(&mut data));
            check(engine.sendrecv(engine.lock(), CONTEXT, 0, 9, out, 0, 2, into).expect_err("too long"), 2);
        }
    });
}

#[test]
fn requests_that_are_awaited_stay_as_they_are() {
    run(2, |rank| {
        let engine = &rank.engine;
        if rank.me() == 0 {
            rank.recv(1, 9, &mut []).expect("fits");
            (0..2).for_each(|tag| rank.send(1, tag, &[7; 8], Mode::Standard));
            return;
        }
        let mut inboxes = [[0u8; 8]; 3];
        let [first, second, never] = &mut inboxes;
        let requests = [rank.irecv(0, 2, never), rank.irecv(0, 1, first), rank.irecv(0, 0, second)];
        assert!(engine.complete_requests(&mut engine.lock(), &requests).expect("known").is_empty());
        rank.send(0, 9, &[], Mode::Standard);
        assert!(engine.await_some(engine.lock(), &[]).expect("none").is_empty());
        assert!(!engine.await_some(engine.lock(), &requests).expect("known").contains(&0));
        engine.await_all(engine.lock(), &requests[1..]).expect("known");
        assert_eq!(engine.complete_requests(&mut engine.lock(), &requests).expect("known"), [1, 2]);
        for request in &requests[1..] {
            assert_eq!(engine.wait(engine.lock(), *request).expect("still there").status.bytes(), 8);
        }
        assert!(engine.await_all(engine.lock(), &requests[1..2]).is_err(), "it is gone");
        engine.cancel(&mut engine.lock(), requests[0]).expect("known");
        assert!(engine.wait(engine.lock(), requests[0]).expect("known").status.cancelled());
    });
}

#[test]
fn a_receive_whose_message_is_the_next_one_is_complete_at_once_and_counted_once() {
    run(1, |rank| {
        let (engine, of_comm) = (&rank.engine, rank.instruments.block);
        let of_process = engine.instruments();
        // The first message is found by a poll.
        rank.send(0, 0, &[0], Mode::Standard);
        rank.recv(0, 0, &mut [0]).expect("sent");
        let counts = || {
            let received = (of_comm.messages_received.get(), of_process.eager_received.get());
            let queues = (of_comm.unexpected.get(), of_comm.search_steps.get(), of_process.polls.get());
            (received, queues, of_comm.posted_length.get(), of_process.requests.get())
        };
        let before = counts();
        for (number, tag) in [(1, 5), (2, MPI_ANY_TAG)] {
            rank.send(0, 5, &[number, 7], Mode::Standard);
            let mut inbox = [0; 3];
            let request = rank.irecv(0, tag, &mut inbox);
            assert_eq!(inbox, [number, 7, 0]);
            let ((messages, eager), queues, ..) = before;
            let received = (messages + u64::from(number), eager + u64::from(number));
            assert_eq!(counts(), (received, queues, 0, 0), "neither found, nor posted, nor polled for");
            let status = engine.wait(engine.lock(), request).expect("live").status;
            assert_eq!((status.source, status.tag, status.bytes(), status.cancelled()), (0, 5, 2, false));
        }
        // From any source, into too little room, and behind a receive that is posted, it takes the longer way.
        for (source, room) in [(MPI_ANY_SOURCE, 2), (0, 1)] {
            rank.send(0, 5, &[1, 7], Mode::Standard);
            let mut inbox = vec![0; room];
            let request = rank.irecv(source, 5, &mut inbox);
            assert_eq!((of_comm.posted_length.get(), inbox[0]), (1, 0));
            let completion = engine.wait(engine.lock(), request).expect("live");
            assert_eq!(
                (completion.error.map(|error| error.class()), inbox[0]),
                ((room == 1).then_some(MPI_ERR_TRUNCATE), 1)
            );
        }
        let mut inboxes = [[0; 1]; 2];
        let [first, second] = &mut inboxes;
        let posted = rank.irecv(0, MPI_ANY_TAG, first);
        (1..=2).for_each(|number| rank.send(0, 5, &[number], Mode::Standard));
        let behind = rank.irecv(0, 5, second);
        for request in [behind, posted] {
            engine.wait(engine.lock(), request).expect("live");
        }
        assert_eq!(inboxes, [[1], [2]], "in the order of the receives");
    });
}

//! The client with launchers that follow the protocol, and with launchers that do not.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use proptest::prelude::*;

use super::*;
use crate::pmi::wire::LONGEST_LINE;

const LIMIT: Duration = Duration::from_secs(20);
const MOMENT: Duration = Duration::from_millis(30);

/// A launcher that answers the first lines it reads with these bytes, and then closes the connection, or waits if
/// `stays`.
fn launcher(answers: &[&[u8]], stays: bool) -> (i32, JoinHandle<()>) {
    let (client, mut own) = UnixStream::pair().unwrap();
    let answers: Vec<Vec<u8>> = answers.iter().map(|answer| answer.to_vec()).collect();
    let thread = std::thread::spawn(move || {
        let mut lines = BufReader::new(own.try_clone().unwrap()).lines();
        for answer in answers {
            if !matches!(lines.next(), Some(Ok(_))) {
                return;
            }
            // The client may have closed the connection.
            let _ = own.write_all(&answer);
        }
        if stays {
            // Until the client closes the connection.
            while matches!(lines.next(), Some(Ok(_))) {}
        }
    });
    (client.into_raw_fd(), thread)
}

/// The outcome of a start under such a launcher.
fn start(answers: &[&[u8]], stays: bool, limit: Duration) -> Result<Client, LauncherError> {
    let (fd, thread) = launcher(answers, stays);
    let client = Client::on_descriptor(fd, 0, 2, limit);
    if client.is_err() {
        thread.join().unwrap();
    }
    client
}

const INIT: &[u8] = b"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
const MAXES: &[u8] = b"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n";
const NAME: &[u8] = b"cmd=my_kvsname kvsname=kvs_1\n";

#[test]
fn every_way_to_put_and_get_is_understood() {
    let answers: [&[u8]; 9] = [
        INIT,
        MAXES,
        NAME,
        b"cmd=put_result rc=0 msg=success\n",
        b"cmd=barrier_out tag=0\n",
        b"cmd=get_result rc=0 msg=success value=a=b;c\n",
        b"cmd=get_result rc=-1 msg=key_x_not_found value=unknown\n",
        b"cmd=get_result rc=1\n",
        b"cmd=get_result found=FALSE\n",
    ];
    let mut client = start(&answers, true, LIMIT).unwrap();
    assert_eq!((client.rank(), client.size(), client.longest_value()), (0, 2, 1024));
    assert_eq!((client.put("k", "v"), client.fence()), (Ok(()), Ok(())));
    assert_eq!(client.get(1, "k"), Ok(Some("a=b;c".into())));
    for _ in 0..3 {
        assert_eq!(client.get(1, "x"), Ok(None));
    }
}

#[test]
fn the_ends_of_spawned_jobs_may_be_reported_before_any_answer() {
    let answers: [&[u8]; 5] = [
        INIT,
        MAXES,
        NAME,
        b"cmd=spawned_ended jobid=1\ncmd=get_result rc=0 value=v\n",
        b"cmd=spawned_ended jobid=2\ncmd=put_result rc=0\n",
    ];
    let (fd, thread) = launcher(&answers, true);
    let mut client = Client::on_copy_of(fd, 0, 2, LIMIT).unwrap();
    assert_eq!(client.get(1, "k"), Ok(Some("v".into())));
    assert_eq!(client.put("k", "v"), Ok(()));
    let ended = std::mem::take(&mut our_link().ended);
    assert!(ended.contains(&"1".into()) && ended.contains(&"2".into()), "{ended:?}");
    // The thread ends with the test, because the descriptor stays open.
    drop(thread);
}

#[test]
fn a_launcher_that_does_not_do_as_it_should_is_named() {
    let long = vec![b'x'; 3 * LONGEST_LINE];
    let cases: [(&[&[u8]], &str); 15] = [
        (&[], "closed the connection instead of answering cmd=init"),
        (&[b"hello\n"], "answers cmd=init with \"hello\", which is no answer of PMI-1: it does not begin with cmd="),
        (&[b"\xff\xfe\n"], "it is not text"),
        (&[b"cmd=maxes rc=0\n"], "it is not cmd=response_to_init"),
        (&[b"cmd=response_to_init rc=0\n"], "names no version of PMI"),
        (&[b"cmd=response_to_init rc=-1 msg=no_more_processes\n"], "refuses cmd=init: \"no_more_processes\""),
        (&[b"cmd=response_to_init pmi_version=2\n"], "has version 2 of PMI, this library version 1"),
        (&[b"cmd=response_to_init pmi_version=1"], "closed the connection"),
        (&[&long], "a line that does not end"),
        (&[INIT], "closed the connection instead of answering cmd=get_maxes"),
        (&[INIT, b"cmd=maxes vallen_max=many\n"], "allows no values of 64 bytes"),
        (&[INIT, b"cmd=maxes vallen_max=63\n"], "allows no values of 64 bytes"),
        (&[INIT, b"\n"], "answers cmd=get_maxes with \"\""),
        (&[INIT, MAXES, b"cmd=my_kvsname\n"], "names no key-value space"),
        (&[INIT, MAXES, b"cmd=my_kvsname kvsname=\n"], "names no key-value space"),
    ];
    for (answers, text) in cases {
        let sentence = start(answers, false, LIMIT).err().unwrap().to_string();
        assert!(sentence.contains(text) && sentence.contains("PMI_FD is "), "{text}: {sentence}");
        assert!(!sentence.contains('\n') && sentence.len() < 300, "{sentence}");
    }
}

#[test]
fn a_silent_launcher_is_an_error_after_the_time_limit() {
    for answers in [&[][..], &[INIT], &[b"cmd=response_to_init pmi_version=1"]] {
        let sentence = start(answers, true, MOMENT).err().unwrap().to_string();
        assert!(sentence.contains("does not answer cmd=") && sentence.contains("within 0.03 seconds"), "{sentence}");
    }
}

#[test]
fn a_process_that_leaves_waits_until_the_launcher_has_read_the_end_of_the_connection() {
    let (fd, thread) = launcher(&[INIT, MAXES, NAME], true);
    let mut client = Client::on_descriptor(fd, 0, 2, LIMIT).unwrap();
    client.leave();
    // The launcher has read the end although the client's descriptor is still open.
    thread.join().unwrap();
    drop(client);
}

#[test]
fn a_fence_is_waited_for_longer_than_an_answer() {
    let (fd, mut own) = {
        let (client, own) = UnixStream::pair().unwrap();
        (client.into_raw_fd(), own)
    };
    let thread = std::thread::spawn(move || {
        let mut lines = BufReader::new(own.try_clone().unwrap()).lines();
        for answer in [INIT, MAXES, NAME] {
            lines.next();
            own.write_all(answer).unwrap();
        }
        lines.next();
        std::thread::sleep(20 * MOMENT);
        own.write_all(b"cmd=barrier_out\n").unwrap();
        lines.next();
    });
    let mut client = Client::on_descriptor(fd, 0, 2, 10 * MOMENT).unwrap();
    assert_eq!(client.fence(), Ok(()));
    let ended = client.fence().unwrap_err().to_string();
    assert!(ended.contains("closed the connection instead of answering cmd=barrier_in"), "{ended}");
    thread.join().unwrap();
}

#[test]
fn a_descriptor_that_is_no_connection_is_not_written_to() {
    let file = std::fs::File::open("/dev/null").unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    let sentence = Client::on_descriptor(fd, 0, 2, LIMIT).err().unwrap().to_string();
    assert!(sentence.contains("is no connection") && sentence.contains("unset PMI_FD"), "{sentence}");
    let sentence = Client::on_descriptor(1 << 20, 0, 2, LIMIT).err().unwrap().to_string();
    assert!(sentence.contains("is not open here"), "{sentence}");
    assert!(is_connection(UnixStream::pair().unwrap().0.into_raw_fd()) && !is_connection(fd) && !is_connection(-1));
}

#[test]
fn a_port_provides_rank_and_size() {
    let (listener, address) = listen();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "cmd=initack pmiid=7");
        stream.write_all(b"cmd=initack rc=0\ncmd=set size=3\ncmd=set rank=2\ncmd=set debug=0\n").unwrap();
        for answer in [INIT, MAXES, NAME] {
            lines.next();
            stream.write_all(answer).unwrap();
        }
    });
    let client = Client::on_port(&address, 7, LIMIT).unwrap();
    assert_eq!((client.rank(), client.size()), (2, 3));
    thread.join().unwrap();
}

#[test]
fn a_port_with_malformed_lines_or_a_closed_port_is_named() {
    let (listener, address) = listen();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"cmd=initack rc=0\ncmd=set size=3\ncmd=set rank=3\ncmd=set debug=0\n").unwrap();
        // Until the client closes the connection.
        BufReader::new(stream).lines().for_each(drop);
    });
    let sentence = Client::on_port(&address, 7, LIMIT).err().unwrap().to_string();
    assert!(sentence.contains("PMI_PORT is 127.0.0.1") && sentence.contains("without a rank"), "{sentence}");
    thread.join().unwrap();
    let sentence = Client::on_port(&address, 7, LIMIT).err().unwrap().to_string();
    assert!(sentence.contains("cannot be reached"), "{sentence}");
    assert!(Client::on_port("nonsense", 7, LIMIT).is_err());
}

fn listen() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

proptest! {
    #[test]
    fn any_answers_end_in_a_client_or_a_sentence(
        answers in prop::collection::vec(prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            "cmd=(response_to_init|maxes|my_kvsname)( (pmi_version|rc|vallen_max|kvsname)=[0-9a-]{1,4}){0,4}\n".prop_map(String::into_bytes),
        ], 0..4)
    ) {
        let answers: Vec<&[u8]> = answers.iter().map(Vec::as_slice).collect();
        if let Err(trouble) = start(&answers, false, MOMENT) {
            prop_assert!(!trouble.to_string().contains('\n'));
        }
    }
}

//! Files of published names: found, refused, replaced, damaged.

use super::*;
use crate::names::{self, PublishedNames};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("ferrum-names-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        Scratch(path)
    }

    fn file(&self, service: &[u8]) -> PathBuf {
        self.0.join(file_name(service))
    }

    /// Makes the file of a record.
    fn put(&self, record: &Contents<'_>) {
        fs::write(self.file(record.texts[1]), record.to_bytes()).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn own<'a>(service: &'a [u8], port: &'a [u8]) -> Contents<'a> {
    let pid = std::process::id();
    let started = start_time(pid).unwrap();
    Contents { number: 7, host_key: host::key(), started, pid, texts: [b"here", service, port] }
}

/// The record of a process on another host.
fn far(service: &[u8]) -> Contents<'_> {
    Contents { host_key: host::key() ^ 1, pid: 77, texts: [b"h9", service, b"far port"], ..own(service, b"") }
}

#[test]
fn a_name_in_a_folder_is_found_until_it_is_withdrawn() {
    let (folder, service) = (Scratch::new("found"), &b"any \xff bytes / in \n it"[..]);
    let names = PublishedNames::default();
    names.publish(service, b"a port", Some(&folder.0)).unwrap();
    assert_eq!(look_up(&folder.0, service).unwrap(), b"a port");
    let path = folder.file(service);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "the file by its other name is gone");
    names.unpublish(service, b"a port").unwrap();
    assert_eq!(look_up(&folder.0, service).unwrap_err().class(), MPI_ERR_NAME);
    names.publish(service, b"a port", Some(&folder.0)).unwrap();
    names.publish(b"second", b"port", Some(&folder.0)).unwrap();
    names.take().unpublish_all().unwrap();
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
    assert_eq!(names::look_up(service, None).unwrap_err().class(), MPI_ERR_NAME);
}

#[test]
fn a_name_of_another_host_is_found_and_not_taken() {
    let (folder, service) = (Scratch::new("far"), b"far");
    folder.put(&far(service));
    assert_eq!(names::look_up(service, Some(&folder.0)).unwrap(), b"far port");
    let names = PublishedNames::default();
    let error = names.publish(service, b"p", Some(&folder.0)).unwrap_err();
    assert_eq!(error.class(), MPI_ERR_SERVICE);
    let text = error.to_string();
    for part in ["process 77 on host h9", folder.file(service).to_str().unwrap(), "remove the file"] {
        assert!(text.contains(part), "{text}");
    }
    // The claim of the name has ended.
    names.publish(service, b"p", None).unwrap();
}

#[test]
fn the_file_of_an_ended_process_of_this_host_is_replaced() {
    let (folder, service) = (Scratch::new("ended"), b"ended");
    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    folder.put(&Contents { pid, ..own(service, b"old") });
    assert_eq!(look_up(&folder.0, service).unwrap_err().class(), MPI_ERR_NAME);
    let record = SharedRecord::publish(&folder.0, service, b"new").unwrap();
    assert_eq!(look_up(&folder.0, service).unwrap(), b"new");
    // The id of this process, at another time.
    folder.put(&Contents { started: 1, ..own(service, b"old") });
    assert_eq!(look_up(&folder.0, service).unwrap_err().class(), MPI_ERR_NAME);
    // A file that is not that of the record stays.
    record.remove().unwrap();
    assert!(folder.file(service).exists());
}

#[test]
fn running_processes_and_those_of_other_hosts_have_not_ended() {
    let mut child = Command::new("sh").args(["-c", "read x"]).stdin(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let record = Contents { pid, started: start_time(pid).unwrap(), ..own(b"s", b"p") };
    assert!(!record.has_ended());
    drop(child.stdin.take());
    // Until its exit status is collected the system shows the process with its start time.
    let limit = Instant::now() + Duration::from_secs(20);
    while !record.has_ended() && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!((record.has_ended(), start_time(pid)), (true, Some(record.started)));
    child.wait().unwrap();
    assert!(record.has_ended());
    assert!(!Contents { host_key: host::key() ^ 1, ..record }.has_ended());
}

#[test]
fn a_process_whose_start_time_is_not_shown_has_ended_when_it_does_not_run() {
    let record = own(b"s", b"p");
    let unknown = Contents { started: 0, ..record.clone() };
    assert!(!record.has_ended_if_shown(None) && !unknown.has_ended_if_shown(None));
    assert!(unknown.has_ended_if_shown(Some(record.started)), "another process had this id");
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    assert!(Contents { pid: child.id(), ..record }.has_ended_if_shown(None));
}

#[test]
fn a_name_whose_file_cannot_be_removed_stays_and_can_be_withdrawn_later() {
    let (folder, service) = (Scratch::new("later"), b"later");
    let names = PublishedNames::default();
    names.publish(service, b"p", Some(&folder.0)).unwrap();
    // A file in the place of the folder.
    let aside = folder.0.with_extension("aside");
    fs::rename(&folder.0, &aside).unwrap();
    fs::write(&folder.0, "").unwrap();
    let error = names.unpublish(service, b"p").unwrap_err();
    fs::remove_file(&folder.0).unwrap();
    fs::rename(&aside, &folder.0).unwrap();
    assert_eq!(error.class(), MPI_ERR_OTHER);
    assert_eq!(names::look_up(service, None).unwrap(), b"p");
    names.unpublish(service, b"p").unwrap();
    assert_eq!(names::look_up(service, Some(&folder.0)).unwrap_err().class(), MPI_ERR_NAME);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn damaged_files_are_no_names() {
    let (folder, service) = (Scratch::new("damaged"), b"damaged");
    let (record, path) = (own(service, b"port"), folder.file(service));
    let whole = record.to_bytes();
    assert_eq!(Contents::parse(&whole), Some(record));
    let is_none = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let looked = look_up(&folder.0, service).unwrap_err();
        let published = SharedRecord::publish(&folder.0, service, b"p").unwrap_err();
        assert_eq!((looked.class(), published.class()), (MPI_ERR_NAME, MPI_ERR_SERVICE));
        assert!(published.to_string().contains(path.to_str().unwrap()));
    };
    (0..whole.len()).for_each(|bytes| is_none(&whole[..bytes]));
    is_none(&[&whole[..], b"x"].concat());
    // Magic, the three lengths.
    for at in [0, 7, 36, 39, 40, 43, 44, 47] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x80;
        is_none(&bytes);
    }
    is_none(&own(b"another service", b"port").to_bytes());
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert_eq!(look_up(&folder.0, service).unwrap_err().class(), MPI_ERR_NAME);
    assert_eq!(SharedRecord::publish(&folder.0, service, b"p").unwrap_err().class(), MPI_ERR_SERVICE);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(look_up(&folder.0, service).unwrap_err().class(), MPI_ERR_NAME);
    assert_eq!(SharedRecord::publish(&folder.0, service, b"p").unwrap_err().class(), MPI_ERR_SERVICE);
}

#[test]
fn a_folder_of_others_is_refused_by_its_name() {
    let folder = Scratch::new("refused");
    let refusal = |path: &Path, why: &str| {
        for error in [look_up(path, b"s").unwrap_err(), SharedRecord::publish(path, b"s", b"p").unwrap_err()] {
            let text = error.to_string();
            assert_eq!(error.class(), MPI_ERR_OTHER);
            assert!(text.contains(path.to_str().unwrap()) && text.contains(why), "{text}");
        }
    };
    refusal(Path::new("."), "absolute");
    refusal(&folder.0.join("missing"), "No such file");
    fs::write(folder.0.join("file"), "").unwrap();
    refusal(&folder.0.join("file"), "no folder");
    for mode in [0o770, 0o702] {
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(mode)).unwrap();
        refusal(&folder.0, "chmod go-w");
    }
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o500)).unwrap();
    if user() == 0 {
        // Root may write into each folder, and make that of another user.
        std::os::unix::fs::chown(&folder.0, Some(1234), None).unwrap();
        refusal(&folder.0, "another user");
    } else {
        assert!(SharedRecord::publish(&folder.0, b"s", b"p").unwrap_err().to_string().contains("denied"));
        refusal(Path::new("/"), "another user");
    }
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_file_that_takes_the_place_of_another_stays() {
    let (folder, service) = (Scratch::new("place"), b"place");
    let path = folder.file(service);
    let names = || fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    folder.put(&far(service));
    let before = fs::metadata(&path).unwrap().ino();
    take_out(&path, far(service).number + 1).unwrap();
    assert_eq!((names(), fs::metadata(&path).unwrap().ino()), (vec![path.clone()], before));
    assert_eq!(look_up(&folder.0, service).unwrap(), b"far port");
    take_out(&path, far(service).number).unwrap();
    assert_eq!(names(), Vec::<PathBuf>::new());
    take_out(&path, 7).unwrap();
    fs::write(&path, "no record").unwrap();
    take_out(&path, 7).unwrap();
    assert_eq!((names(), fs::read(&path).unwrap()), (vec![path], b"no record".to_vec()));
}

#[test]
fn a_file_that_vanishes_meanwhile_refuses_no_name() {
    let (folder, service) = (Scratch::new("vanishes"), b"vanishes");
    let (path, own) = (folder.file(service), own(service, b"own"));
    folder.put(&far(service));
    let found = place(&path, service, &mut || {
        let made = create(&path, own.number, &own.to_bytes())?;
        if !made {
            fs::remove_file(&path)?;
        }
        Ok(made)
    });
    assert_eq!(found.unwrap(), None);
    assert_eq!(look_up(&folder.0, service).unwrap(), b"own");
}

#[test]
fn the_process_that_takes_the_place_of_an_ended_one_is_named() {
    let (folder, service) = (Scratch::new("second"), b"second");
    let (path, mut attempts) = (folder.file(service), 0);
    folder.put(&Contents { started: 1, ..own(service, b"ended") });
    let found = place(&path, service, &mut || {
        attempts += 1;
        if attempts == 2 {
            assert!(!path.exists());
            folder.put(&far(service));
        }
        Ok(false)
    });
    assert_eq!((found.unwrap(), attempts), (Some(far(service).to_bytes()), 2));
    // Without end.
    folder.put(&Contents { started: 1, ..own(service, b"ended") });
    let found = place(&path, service, &mut || {
        folder.put(&Contents { started: 1, ..own(service, b"ended") });
        Ok(false)
    });
    assert_eq!(found.unwrap(), Some(Vec::new()));
}

#[test]
fn one_of_many_makes_a_file() {
    let folder = Scratch::new("race");
    let path = folder.file(b"race");
    let make = |number: u64| create(&path, number, &number.to_le_bytes()).unwrap();
    let made: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || make(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
    let winner = made.iter().position(|made| *made).unwrap() as u64;
    assert_eq!(fs::read(&path).unwrap(), winner.to_le_bytes());
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

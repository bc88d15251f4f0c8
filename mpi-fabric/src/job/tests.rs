//! Job memories: made, opened, refused, and their sets of ranks.

use super::*;

fn job() -> Job {
    Job::create(&JobOptions { ranks: 3, ring_bytes: None, cores: 2 }).unwrap()
}

#[test]
fn an_opened_job_is_the_one_that_was_made() {
    let made = job();
    let opened = Job::open(made.fd().unwrap()).unwrap();
    assert_eq!((opened.id(), opened.ranks(), opened.cores()), (made.id(), 3, 2));
    made.describe(7, 12345);
    assert_eq!((opened.cores(), opened.launcher_pid()), (7, 12345));
    assert!(opened.request_abort(2, -7, AbortCause::Error));
    assert!(!made.request_abort(1, 3, AbortCause::Call));
    assert_eq!(made.abort(), Some((2, -7, AbortCause::Error)));
}

#[test]
fn every_damaged_header_word_is_refused() {
    for at in (0..header::JOB_ID).step_by(4) {
        let made = job();
        let word = made.mapping.half(at);
        word.store(word.load(Ordering::Relaxed) ^ 0x10, Ordering::Relaxed);
        let opened = Job::open(made.fd().unwrap());
        assert!(opened.is_err_and(|e| e.to_string().contains("not the shared memory of a job")), "word at {at:#x}");
    }
}

#[test]
fn a_file_that_is_no_job_is_refused() {
    for name in ["/dev/null", "/proc/self/exe", "/proc/self/status"] {
        let file = std::fs::File::open(name).unwrap();
        assert!(Job::open(file.as_fd()).is_err(), "{name}");
    }
}

#[test]
fn an_object_of_any_greater_length_is_mapped_as_far_as_its_header_says() {
    let made = job();
    let file = std::fs::File::from(made.fd().unwrap().try_clone_to_owned().unwrap());
    for length in [1 << 40, 1 << 62] {
        file.set_len(length).unwrap();
        let opened = Job::open(file.as_fd()).unwrap();
        assert_eq!((opened.id(), opened.mapping.bytes()), (made.id(), made.layout.total_bytes()));
        let opened = Job::open_for_reading(std::process::id(), file.as_raw_fd()).unwrap();
        assert_eq!((opened.id(), opened.mapping.bytes()), (made.id(), made.layout.total_bytes()));
    }
}

#[test]
fn impossible_jobs_are_refused_with_the_range() {
    let error = Job::create(&JobOptions { ranks: 0, ring_bytes: None, cores: 1 }).err().unwrap();
    assert!(error.to_string().contains("1 to 8192 ranks"), "{error}");
}

#[test]
fn a_part_is_aborted_once_by_each_rank() {
    let job = Job::create(&JobOptions { ranks: 70, ring_bytes: Some(layout::MIN_RING_BYTES), cores: 1 }).unwrap();
    assert!(job.request_abort_of(&[3, 66, 1000], 3, 256, AbortCause::Call));
    assert!(!job.request_abort_of(&[4], 3, 1, AbortCause::Error));
    assert!(job.request_abort_of(&[5], 5, -1, AbortCause::Error));
    assert_eq!((job.abort(), job.abort_by(3)), (None, Some((256, AbortCause::Call))));
    assert_eq!((job.abort_by(5), job.abort_by(66)), (Some((-1, AbortCause::Error)), None));
    let to_end: Vec<u32> = (0..70).filter(|rank| job.is_to_end(*rank)).collect();
    assert_eq!(to_end, [3, 5, 66]);
    job.report_lost(66);
    assert!(job.is_lost(66) && !job.is_lost(3));
}

#[test]
fn a_job_has_left_another_when_all_ranks_have() {
    let job = Job::create(&JobOptions { ranks: 2, ring_bytes: Some(layout::MIN_RING_BYTES), cores: 1 }).unwrap();
    job.set_connected_jobs(0, &[]);
    assert!(!job.has_left(Some(7)) && !job.has_left(None));
    job.set_connected_jobs(1, &[8, 7]);
    assert!(!job.has_left(Some(7)) && job.has_left(Some(9)) && !job.has_left(None));
    job.set_connected_jobs(1, &[8]);
    assert!(job.has_left(Some(7)) && !job.has_left(None));
    // More than are listed.
    job.set_connected_jobs(1, &vec![8; 40]);
    assert!(!job.has_left(Some(7)));
    job.set_connected_jobs(1, &[]);
    assert!(job.has_left(Some(7)) && job.has_left(None));
}

#[test]
fn a_part_of_a_large_job_takes_memory_for_its_own_ranks() {
    let options = JobOptions { ranks: 3000, ring_bytes: Some(layout::MIN_RING_BYTES), cores: 1 };
    let job = Job::create_part(&options, &[2, 2999]).unwrap();
    let file = std::fs::File::from(job.fd().unwrap().try_clone_to_owned().unwrap());
    let backed = || std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()) * 512;
    // With the pages of the two sets of ranks: nothing is backed later by their use.
    let before = backed();
    assert!(!job.is_to_end(2999) && !job.is_lost(2));
    assert_eq!(backed(), before);
    // The bells of all ranks are backed, and each block of the two.
    assert!(backed() < 3000 * 0x200 + (1 << 20), "{}", backed());
    assert!(job.request_abort_of(&[2, 1023, 1024, 2999, 3000], 2, 7, AbortCause::Call));
    let to_end = |job: &Job| (0..3000).filter(|rank| job.is_to_end(*rank)).collect::<Vec<u32>>();
    assert_eq!(to_end(&job), [2, 1023, 1024, 2999]);
    [1, 1024, 2999].iter().for_each(|rank| job.report_lost(*rank));
    let opened = Job::open(job.fd().unwrap()).unwrap();
    assert_eq!((0..3000).filter(|rank| opened.is_lost(*rank)).collect::<Vec<u32>>(), [1, 1024, 2999]);
    assert_eq!(to_end(&opened), to_end(&job));
    // Nothing was written into the places of others.
    assert_eq!((opened.life(1), opened.life(2998)), (Life::Absent, Life::Absent));
    assert!(Job::create_part(&options, &[3000]).is_err());
}

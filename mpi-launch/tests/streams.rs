//! The ranks' output arrives completely: large amounts, lines of any length, with or without a last newline.
#![allow(clippy::unwrap_used)] // a test that cannot continue panics

mod common;

use std::io::{BufRead, Read};

use common::{Job, mpiexec, run};

#[test]
fn a_hundred_megabytes_of_each_rank_arrive_with_no_line_torn() {
    // 96 bytes a line.
    let line = "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijk";
    let script = format!("yes $FERRUM_RANK:{line} | head -c 100000000");
    let mut job = Job::start(mpiexec().args(["-n", "2", "sh", "-c", &script]));
    let (mut output, mut text) = (job.stdout(), Vec::new());
    let (mut bytes, mut partial) = ([0u64; 2], 0);
    while output.read_until(b'\n', &mut text).unwrap() > 0 {
        let rank = usize::from(text[0] - b'0');
        bytes[rank] += text.len() as u64;
        let whole = text.strip_suffix(b"\n").unwrap_or(&text);
        // The last line of each is cut by its program; one of the two gets a newline, because the other's follows.
        if &whole[2..] != line.as_bytes() {
            assert!(line.as_bytes().starts_with(&whole[2..]), "{}", String::from_utf8_lossy(whole));
            partial += 1;
            bytes[rank] -= u64::from(whole.len() != text.len());
        }
        text.clear();
    }
    assert_eq!((bytes, partial <= 2), ([100_000_000; 2], true));
    assert_eq!(job.finish().code, Some(0));
}

#[test]
fn a_line_of_any_length_is_not_torn_by_the_others() {
    let script = "test $FERRUM_RANK = 0 && { head -c 40000000 /dev/zero | tr '\\0' x; echo; } || \
                  { i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; }";
    let mut job = Job::start(mpiexec().args(["-n", "3", "sh", "-c", script]));
    let mut text = String::new();
    job.stdout().read_to_string(&mut text).unwrap();
    assert_eq!(job.finish().code, Some(0));
    let (long, short): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('x'));
    assert_eq!(long.iter().map(|line| line.len()).collect::<Vec<_>>(), [40_000_000]);
    assert_eq!(short.len(), 4000);
    assert!(short.iter().all(|line| line.starts_with("line ")));
}

#[test]
fn unfinished_last_lines_of_several_ranks_are_kept_apart() {
    let done = run(&["-n", "5", "sh", "-c", "printf \"end of $FERRUM_RANK\"; printf \"error of $FERRUM_RANK\" >&2"]);
    for (text, word) in [(&done.stdout, "end"), (&done.stderr, "error")] {
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, (0..5).map(|rank| format!("{word} of {rank}")).collect::<Vec<_>>());
        assert!(!text.ends_with('\n'), "nothing is added to the last one");
    }
}

#[test]
fn zero_bytes_and_others_that_are_no_text_pass_unchanged() {
    let mut job = Job::start(mpiexec().args(["sh", "-c", "printf 'a\\000b\\377\\n\\200'; exit 4"]));
    let mut bytes = Vec::new();
    job.stdout().read_to_end(&mut bytes).unwrap();
    assert_eq!((&bytes[..], job.finish().code), (&b"a\0b\xff\n\x80"[..], Some(4)));
}

#[test]
fn what_a_rank_wrote_before_it_was_killed_arrives() {
    let done = run(&["-n", "2", "sh", "-c", "echo before $FERRUM_RANK; printf half; kill -KILL $$"]);
    assert_eq!(done.code, Some(137));
    assert!(done.stdout.contains("before ") && done.stdout.contains("half"), "{}", done.stdout);
}

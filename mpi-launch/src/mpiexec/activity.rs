//! The activity of each rank, from its flight recorder and the system, for the report on a job that exceeds its time
//! limit.

use std::collections::BTreeMap;

use mpi_fabric::Job;
use mpi_fabric::recorder::Call;
use mpi_observe::JobView;
use mpi_observe::process::{self, ProcessState};
use mpi_observe::words::ranges;

use mpi_core::json::Object;

/// The activity of one rank.
struct Activity {
    rank: u32,
    /// As text, without numbers that differ between ranks with the same activity.
    what: String,
    call: Option<Call>,
    /// The state of the process, and the seconds of processor time.
    process: Option<State>,
}

/// State of a process, and the seconds of processor time.
pub(super) type State = (&'static str, f64);

/// The activity of each rank, in a few lines: ranks with the same activity share one.
pub(super) fn report(job: &Job, processes: &[Option<i32>]) -> String {
    text(local(job, processes))
}

/// The same for ranks on other hosts: whether each runs, and the state of its process, if that is known.
pub(super) fn report_remote(job: &Job, living: &[bool], states: &[Option<State>]) -> String {
    text(all(job, living, &|rank| states[rank]))
}

fn text(activities: Vec<Activity>) -> String {
    let mut groups: BTreeMap<_, Vec<Activity>> = BTreeMap::new();
    for activity in activities {
        let state = activity.process.map(|(state, _)| state);
        groups.entry((activity.what.clone(), state)).or_default().push(activity);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, members)| members[0].rank);
    let mut text = String::from("what the ranks were doing:");
    for ((what, state), members) in groups {
        let ranks: Vec<u32> = members.iter().map(|member| member.rank).collect();
        let word = if ranks.len() == 1 { "rank" } else { "ranks" };
        let several = [("has ", "have "), ("runs; its ", "run; their ")];
        let of_several = several.iter().find_map(|(one, many)| Some(format!("{many}{}", what.strip_prefix(one)?)));
        let what = of_several.filter(|_| ranks.len() > 1).unwrap_or(what);
        text += &format!("\n  {word} {}: {what}", ranges(&ranks));
        let sequences = members.iter().filter_map(|member| Some(member.call?.sequence));
        text += &spread(", call ", sequences, |number| format!("number {number}"));
        let they_are = if ranks.len() == 1 { "the process is" } else { "the processes are" };
        text += &state.map_or_else(String::new, |state| format!("; {they_are} {state}"));
        let seconds = members.iter().filter_map(|member| Some(member.process?.1));
        text += &spread(", ", seconds.map(|s| (s * 10.0).round() as u64), |tenths| {
            format!("{} s of processor time", tenths as f64 / 10.0)
        });
    }
    text
}

/// The same as fields, one object a rank.
pub(super) fn list(job: &Job, processes: &[Option<i32>]) -> Vec<Object> {
    objects(job, local(job, processes))
}

/// The same for ranks on other hosts.
pub(super) fn list_remote(job: &Job, living: &[bool], states: &[Option<State>]) -> Vec<Object> {
    objects(job, all(job, living, &|rank| states[rank]))
}

fn objects(job: &Job, activities: Vec<Activity>) -> Vec<Object> {
    let object = |activity: Activity| {
        let object = facts(job, activity.rank, Object::new().number("rank", activity.rank));
        let object = object.text("doing", &activity.what);
        match activity.process {
            Some((state, seconds)) => object.text("process", state).number("cpu_ms", (seconds * 1000.0).round() as i64),
            None => object,
        }
    };
    activities.into_iter().map(object).collect()
}

/// A rank's last call as fields, if it made one.
pub(super) fn facts(job: &Job, rank: u32, object: Object) -> Object {
    let Some(call) = job.recorder(rank).current() else { return object };
    let object = object.text("call", &call.function_name()).flag("returned", call.ended);
    object.number("call_number", i64::try_from(call.sequence).unwrap_or(i64::MAX))
}

fn local(job: &Job, processes: &[Option<i32>]) -> Vec<Activity> {
    let living: Vec<bool> = processes.iter().map(Option::is_some).collect();
    all(job, &living, &|rank| processes[rank].and_then(process))
}

fn all(job: &Job, living: &[bool], state: &dyn Fn(usize) -> Option<State>) -> Vec<Activity> {
    let activity = |(place, lives): (usize, &bool)| {
        let rank = place as u32;
        let call = job.recorder(rank).current();
        let what = JobView::of(job).activity(rank, *lives);
        Activity { rank, what, call: call.filter(|_| *lives), process: if *lives { state(place) } else { None } }
    };
    living.iter().enumerate().map(activity).collect()
}

/// State and processor time of a process; `None` where the system does not report it.
pub(super) fn process(pid: i32) -> Option<State> {
    let facts = process::facts(u32::try_from(pid).ok()?)?;
    Some((facts.state.name(), facts.cpu_seconds))
}

/// The state that another host has reported by this text.
pub(super) fn state_of(text: &str) -> &'static str {
    ProcessState::named(text).name()
}

/// The common value, or the range from the smallest to the largest; empty without values.
fn spread<T: Ord + Copy>(before: &str, values: impl Iterator<Item = T>, text: impl Fn(T) -> String) -> String {
    let values: Vec<T> = values.collect();
    match (values.iter().min(), values.iter().max()) {
        (Some(least), Some(most)) if least == most => format!("{before}{}", text(*least)),
        (Some(least), Some(most)) => format!("{before}{} to {}", text(*least), text(*most)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::functions;
    use mpi_fabric::{JobOptions, Life};

    #[test]
    fn ranks_that_do_the_same_share_a_line() {
        let job = Job::create(&JobOptions { ranks: 5, ring_bytes: None, cores: 1 }).unwrap();
        for rank in [0, 2, 3] {
            job.set_life(rank, Life::Initialised);
            job.recorder(rank).enter(functions::MPI_ALLREDUCE, 0, -1, 0, 4);
        }
        job.set_life(1, Life::Initialised);
        job.recorder(1).enter(functions::MPI_RECV, 0, 3, 7, 1);
        let own = Some(std::process::id() as i32);
        let text = report(&job, &[own, own, own, own, None]);
        let lines: Vec<_> = text.lines().collect();
        assert!(
            lines[1]
                .starts_with("  ranks 0, 2-3: inside MPI_Allreduce with count 4, call number 1; the processes are "),
            "{text}"
        );
        assert!(lines[2].starts_with("  rank 1: inside MPI_Recv from rank 3 with tag 7, call number 1"), "{text}");
        assert_eq!(lines[3..], ["  rank 4: has ended"]);
        let json = list(&job, &[own, own, own, own, None]).pop().map(Object::end);
        assert_eq!(json.as_deref(), Some("{\"rank\":4,\"doing\":\"has ended\"}"));
    }

    #[test]
    fn a_rank_outside_mpi_is_reported_as_outside() {
        let job = Job::create(&JobOptions { ranks: 3, ring_bytes: None, cores: 1 }).unwrap();
        job.set_life(1, Life::Initialised);
        let recorder = job.recorder(1);
        let mark = recorder.enter(functions::MPI_BCAST, 0, 2, 0, 1);
        mark.leave();
        mark.failed();
        job.set_life(2, Life::Finalised);
        job.recorder(1).refused(functions::MPI_BCAST);
        let text = report(&job, &[Some(-5), Some(-5), Some(-5)]);
        assert!(text.contains("rank 0: has not called MPI_Init\n"), "{text}");
        assert!(
            text.contains("rank 1: outside MPI, after MPI_Bcast with root 2 and count 1, call number 1\n"),
            "{text}"
        );
        assert!(text.ends_with("rank 2: has called MPI_Finalize"), "{text}");
        job.recorder(1).refused(functions::MPI_RECV);
        let text = report(&job, &[Some(-5), Some(-5), Some(-5)]);
        assert!(text.contains("rank 1: outside MPI, after MPI_Recv, which was refused, call number 2\n"), "{text}");
        assert!(report(&job, &[None, None, Some(-5)]).contains("ranks 0-1: have ended\n"));
        job.recorder(1).set_depth(0);
        let text = report(&job, &[Some(-5), Some(-5), Some(-5)]);
        assert!(text.contains("rank 1: runs; its calls are not recorded\n"), "{text}");
    }
}

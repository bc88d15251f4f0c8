//! The activity of each rank, from its flight recorder and the system, for the JSON report on a job that exceeds its time
//! limit.
//!
//! Not here: the list of ranks of the same report as text (`hang`).

use mpi_fabric::Job;
use mpi_observe::JobView;
use mpi_observe::process::{self, ProcessState};

use mpi_core::json::Object;

/// The activity of one rank.
struct Activity {
    rank: u32,
    /// As text, without numbers that differ between ranks with the same activity.
    what: String,
    /// The state of the process, and the seconds of processor time.
    process: Option<State>,
}

/// State of a process, and the seconds of processor time.
pub(super) type State = (&'static str, f64);

/// The activity of each rank, one object a rank.
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
        let what = JobView::of(job).activity(rank, *lives);
        Activity { rank, what, process: if *lives { state(place) } else { None } }
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

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::functions;
    use mpi_fabric::{JobOptions, Life};

    #[test]
    fn each_rank_is_reported_with_its_last_call() {
        let job = Job::create(&JobOptions { ranks: 4, ring_bytes: None, cores: 1 }).unwrap();
        job.set_life(0, Life::Initialised);
        job.recorder(0).enter(functions::MPI_RECV, 0, 3, 7, 1);
        job.set_life(1, Life::Initialised);
        job.recorder(1).enter(functions::MPI_BCAST, 0, 2, 0, 1).leave();
        job.set_life(2, Life::Finalised);
        let own = Some(std::process::id() as i32);
        let json: Vec<String> = list(&job, &[own, Some(-5), Some(-5), None]).into_iter().map(Object::end).collect();
        let first = "{\"rank\":0,\"call\":\"MPI_Recv\",\"returned\":false,\"call_number\":1,\"doing\":\"inside MPI_Recv from rank 3 \
                     with tag 7\",\"process\":\"";
        assert!(json[0].starts_with(first) && json[0].contains("\"cpu_ms\":"), "{}", json[0]);
        assert!(
            json[1].ends_with("\"doing\":\"outside MPI, after MPI_Bcast with root 2 and count 1\"}"),
            "{}",
            json[1]
        );
        assert_eq!(
            json[2..],
            ["{\"rank\":2,\"doing\":\"has called MPI_Finalize\"}", "{\"rank\":3,\"doing\":\"has ended\"}"]
        );
    }
}

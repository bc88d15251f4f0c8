//! The summary as text of one screen.

use mpi_observe::summary::{Amount, Measure, Section, Summary};
use mpi_observe::words;

/// Jobs of at most this many ranks have a line for each rank.
const MOST_LINES: u32 = 8;
/// Lines are no longer.
const WIDTH: usize = 92;
/// Most collective functions that are named.
const MOST_COLLECTIVES: usize = 4;

/// The text. `job`: the name of a spawned job.
pub(super) fn text(summary: &Summary, job: Option<&str>) -> String {
    let of_job = job.map_or_else(String::new, |name| format!(" of spawned job {name}"));
    let ranks = mpi_errors::counted(u64::from(summary.ranks), "rank");
    let seconds = words::seconds(summary.seconds);
    let mut text = format!("Ferrum MPI statistics{of_job}: {ranks}, {seconds}, exit code {}\n", summary.exit_code);
    let hosts = summary.hosts.len();
    if let Some(origin) = &summary.origin {
        let place = (hosts > 1).then(|| mpi_errors::counted(hosts as u64, "host"));
        text += &format!("  {}\n", origin.line(place.as_deref(), WIDTH - 2));
    }
    if !summary.hosts.is_empty() {
        text +=
            &format!("  on {}: {}\n", mpi_errors::counted(summary.hosts.len() as u64, "host"), summary.hosts_line());
    }
    if summary.without_mpi.len() == summary.ranks as usize {
        return text + "  no rank has used MPI\n";
    }
    for (ranks, what) in [
        (&summary.without_finalize, "without MPI_Finalize, counted up to their end"),
        (&summary.without_mpi, "without MPI"),
    ] {
        if !ranks.is_empty() {
            text += &format!("  {what}: {}\n", words::ranks(ranks));
        }
    }
    text += &line(["", "total", "mean", "least", "rank", "greatest", "rank"].map(String::from));
    let mut last = None;
    for amount in &summary.amounts {
        if last != Some(amount.section) {
            last = Some(amount.section);
            text += &format!("{}\n", amount.section.name());
        }
        text += &amount_line(amount);
        match amount.section {
            Section::Waits if amount.name == "time_waited" => text += &part_waited(summary, amount),
            Section::Collectives => text += &collectives(summary),
            _ => {}
        }
    }
    text += &marks(summary);
    if let Some(bytes) = summary.shared_bytes {
        text += &format!("memory shared by the ranks: {}\n", words::bytes(bytes as f64));
    }
    if (2..=MOST_LINES).contains(&summary.ranks) {
        text += &rank_lines(summary);
    }
    for outlier in &summary.outliers {
        text += &format!("differs: {}\n", outlier.sentence);
    }
    text
}

fn line(cells: [String; 7]) -> String {
    let [title, total, mean, least, least_rank, greatest, greatest_rank] = cells;
    let line =
        format!("  {title:<29} {total:>9} {mean:>9} {least:>9} {least_rank:<5} {greatest:>9} {greatest_rank:<5}");
    line.trim_end().to_owned() + "\n"
}

fn amount_line(amount: &Amount) -> String {
    let text = |value| amount.measure.text(value);
    let Some((least, greatest)) = amount.ends() else { return String::new() };
    // A mean of things is seldom a whole number.
    let mean = if amount.measure == Measure::Count { amount.mean().round() } else { amount.mean() };
    line([
        amount.title.to_owned(),
        text(amount.total()),
        text(mean),
        text(least.0),
        least.1.to_string(),
        text(greatest.0),
        greatest.1.to_string(),
    ])
}

/// The greatest lengths of queues, in one line.
fn marks(summary: &Summary) -> String {
    let greatest = summary.traffic.marks.iter().filter_map(|mark| Some((mark, mark.greatest()?)));
    let used = greatest.filter(|(_, (value, _))| *value > 0);
    let parts: Vec<String> = used
        .filter(|(mark, _)| mark.measure == Measure::Count)
        .map(|(mark, (value, rank))| format!("{} {} (rank {rank})", mark.title, words::amount(value as f64)))
        .collect();
    if parts.is_empty() { String::new() } else { format!("most at once: {}\n", parts.join(", ")) }
}

fn part_waited(summary: &Summary, waited: &Amount) -> String {
    let all = summary.seconds * waited.values.iter().flatten().count() as f64;
    match all > 0.0 {
        true => format!("    {:.0} % of the time of all ranks\n", 100.0 * waited.total() / all),
        false => String::new(),
    }
}

fn collectives(summary: &Summary) -> String {
    let total = |calls: &[Option<f64>]| calls.iter().flatten().sum::<f64>();
    let called: Vec<_> = summary.collectives.iter().filter(|(_, calls)| total(calls) > 0.0).collect();
    let first = called.iter().take(MOST_COLLECTIVES);
    let mut parts: Vec<String> = first.map(|(name, calls)| format!("{name} {}", words::amount(total(calls)))).collect();
    if called.len() > MOST_COLLECTIVES {
        parts.push(format!("{} more", called.len() - MOST_COLLECTIVES));
    }
    if parts.is_empty() { String::new() } else { format!("    {}\n", parts.join(", ")) }
}

/// The amounts that each rank has a column for.
const COLUMNS: [(&str, &str); 6] = [
    ("messages_sent", "sent"),
    ("bytes_sent", "bytes"),
    ("messages_received", "received"),
    ("time_waited", "waited"),
    ("unexpected", "unexpected"),
    ("collective_calls", "collectives"),
];

fn rank_lines(summary: &Summary) -> String {
    let columns: Vec<_> = COLUMNS.iter().filter_map(|(name, title)| Some((summary.amount(name)?, *title))).collect();
    let mut text = format!("{:<8}", "rank");
    columns.iter().for_each(|(_, title)| text += &format!(" {title:>11}"));
    text += "\n";
    for rank in 0..summary.ranks as usize {
        text += &format!("  {rank:<6}");
        for (amount, _) in &columns {
            let cell = amount.values[rank].map_or_else(|| "-".to_owned(), |value| amount.measure.text(value));
            text += &format!(" {cell:>11}");
        }
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_fabric::{Endpoint, Job, JobOptions};
    use mpi_observe::JobView;

    mpi_t::instruments! {
        /// Some of the variables of a process.
        struct Process: NoObject {
            /// Sent.
            sent: mpi_t::Counter =
                { name: "p2p_eager_sent", class: Counter, type: u64, unit: "messages", category: "p2p" },
            /// Own.
            own: mpi_t::Counter =
                { name: "p2p_messages_sent", class: Counter, type: u64, unit: "messages", category: "p2p" },
            /// Waited.
            waited: mpi_t::Timer =
                { name: "p2p_time_waited", class: Timer, type: f64, unit: "", category: "p2p" },
            /// Broadcasts.
            calls: mpi_t::Counter =
                { name: "coll_bcast_calls", class: Counter, type: u64, unit: "calls", category: "coll.calls" },
        }
    }

    #[test]
    fn the_summary_fits_a_screen_and_names_what_differs() {
        for ranks in [2, 3, 8, 40] {
            let endpoints = Endpoint::threads(ranks).expect("memory");
            for (rank, endpoint) in endpoints.iter().enumerate() {
                let block: &'static Process = mpi_t::place(&*endpoint.instrument_memory(), "");
                block.sent.add(1000);
                block.own.add(900);
                block.calls.add(5);
                block.waited.add_ns(if rank == 1 { 1_500_000_000 } else { 10_000_000 });
            }
            let mut summary = Summary::new(JobView::of(endpoints[0].job()), 2.0, 9, &|_, _| None);
            let words = [vec!["./halo"], vec!["<b>"; 100]].concat();
            summary.origin = Some(mpi_observe::origin::Origin::new([(ranks, words)], "h1", [2026, 11, 27, 14, 0, 5]));
            let text = text(&summary, None);
            let second = text.lines().nth(1).unwrap_or_default();
            assert!(
                second.starts_with("  ./halo '<b>' '<b>'") && second.ends_with("… on h1, 2026-11-27 14:00 UTC"),
                "{text}"
            );
            assert!(text.lines().count() <= 30 && text.lines().all(|line| line.chars().count() <= 92), "{text}");
            assert!(
                text.starts_with(&format!("Ferrum MPI statistics: {ranks} ranks, 2.00 s, exit code 9\n")),
                "{text}"
            );
            assert!(text.contains("differs: rank 1 waited 1.50 s, the other"), "{text}");
            assert!(text.contains("without MPI_Finalize, counted up to their end: ranks 0-"), "{text}");
            assert!(text.contains(&format!("    MPI_Bcast {}\n", 5 * ranks)), "{text}");
            let json = summary.json(None);
            let of_job = "\"host\":\"h1\",\"started\":\"2026-11-27T14:00:05Z\",\"ranks\":";
            assert!(json.contains("\"command\":\"./halo '<b>' '<b>'") && json.contains(of_job), "{json}");
            // Sends are together: all, and those of the program.
            let place = |name: &str| json.find(&format!("\"name\":\"{name}\"")).expect(name);
            assert!(
                place("messages_sent") < place("own_messages_sent") && place("own_messages_sent") < place("bytes_sent")
            );
            assert!(
                json.contains(&format!(
                    "\"name\":\"messages_sent\",\"title\":\"messages sent\",\"unit\":\"count\",\"total\":{}",
                    1000 * ranks
                )),
                "{json}"
            );
        }
    }

    #[test]
    fn a_wait_that_the_end_of_the_job_interrupts_is_counted() {
        let endpoints = Endpoint::threads(4).expect("memory");
        let job = endpoints[0].job();
        let now = 1_000_000_000_000;
        for rank in 0..4 {
            let endpoint = &endpoints[rank as usize];
            let block: &'static Process = mpi_t::place(&*endpoint.instrument_memory(), "");
            block.waited.add_ns(10_000_000);
            if rank != 1 {
                endpoint.open_waits().begin(now);
            }
            job.record_end(rank, now + 2_900_000_000);
        }
        let summary = Summary::new(JobView::of(job), 3.0, 9, &|_, _| None);
        let text = text(&summary, None);
        assert!(text.contains("    73 % of the time of all ranks\n"), "{text}");
        assert!(text.contains("differs: rank 1 waited 10.0 ms, the others (median) 2.91 s\n"), "{text}");
        assert!(summary.json(None).contains("\"values\":[2.910000000,0.010000000,2.910000000,2.910000000]"));
        // Damaged words count for no more than the job has lasted.
        job.record_end(0, u64::MAX / 4);
        let summary = Summary::new(JobView::of(job), 3.0, 9, &|_, _| None);
        assert!(summary.amount("time_waited").is_some_and(|waited| waited.values[0].is_some_and(|value| value < 3.1)));
    }

    #[test]
    fn a_job_without_mpi_has_two_lines() {
        let job = Job::create(&JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).expect("memory");
        let summary = Summary::new(JobView::of(&job), 0.5, 0, &|_, _| None);
        assert_eq!(
            text(&summary, Some("1")),
            "Ferrum MPI statistics of spawned job 1: 2 ranks, 500.0 ms, exit code 0\n  no rank has used MPI\n"
        );
    }
}

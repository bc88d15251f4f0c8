//! Ranks and amounts as text for people.

pub use mpi_errors::counted;
use mpi_fabric::job::HostRanks;

/// The most hosts that are named in a sentence.
const MOST_HOSTS: usize = 16;

/// "0, 2-4" for the ranks 0, 2, 3 and 4; they come in their order.
pub fn ranges(ranks: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for rank in ranks {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *rank => *last = *rank,
            _ => parts.push((*rank, *rank)),
        }
    }
    let part = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// "ranks 0, 2-4" or "rank 3".
pub fn ranks(ranks: &[u32]) -> String {
    format!("{} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, ranges(ranks))
}

/// Where ranks are: "ranks 2-3 are on h2".
pub fn ranks_on(of: &[u32], host: &str) -> String {
    format!("{} {} on {host}", ranks(of), if of.len() == 1 { "is" } else { "are" })
}

/// Which ranks of a job on several hosts are on others: "ranks 2-3 are on h2, rank 4 is on h3"; `None` if none is. The first of
/// `hosts` is the own one; ranks of the `size` of the job that are in no list are on hosts without a name.
pub fn elsewhere(hosts: &[HostRanks], size: u32) -> Option<String> {
    let named = hosts.iter().skip(1).take(MOST_HOSTS);
    let mut parts: Vec<String> = named.map(|host| ranks_on(&host.ranks, &host.name)).collect();
    let listed = |rank: &u32| hosts.iter().take(1 + MOST_HOSTS).any(|host| host.ranks.contains(rank));
    let others: Vec<u32> = (0..size).filter(|rank| !listed(rank)).collect();
    if !others.is_empty() && !hosts.is_empty() {
        parts.push(ranks_on(&others, "further hosts"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What a program writes about a wrong command line, from the text that its parser made: it begins with the name of the program,
/// and has no hint to pass a misspelt option as a value.
pub fn usage_error(program: &str, text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("tip: to pass ")) {
        // The lines around a hint are empty.
        if !(line.is_empty() && lines.last().is_some_and(|last| last.is_empty())) {
            lines.push(line);
        }
    }
    format!("{program}: {}\n", lines.join("\n"))
}

/// An amount in at most four digits: `999`, `12.3k`, `4.56M`.
pub fn amount(value: f64) -> String {
    scaled(value, 1000.0, &["", "k", "M", "G", "T", "P", "E"])
}

/// Bytes in at most four digits: `999 B`, `12.3 KiB`, `4.56 MiB`.
pub fn bytes(value: f64) -> String {
    scaled(value, 1024.0, &[" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"])
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let (mut value, mut unit) = (value, 0);
    // From 999.5 on the number would be written with four digits.
    while value.abs() >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let decimals = match value.abs() {
        _ if unit == 0 && (value.fract() == 0.0 || value.abs() >= 99.95) => 0,
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}{}", units[unit])
}

/// A time: `1.20 s`, `35.1 ms`, `12.0 us`, `2 h 03 min`.
pub fn seconds(value: f64) -> String {
    match value.abs() {
        0.0 => "0 s".to_owned(),
        size if size < 0.000_999_5 => format!("{:.1} us", value * 1e6),
        size if size < 0.999_5 => format!("{:.1} ms", value * 1e3),
        size if size < 99.95 => format!("{value:.2} s"),
        size if size < 5999.5 => format!("{value:.0} s"),
        _ => format!("{:.0} h {:02.0} min", (value / 3600.0).floor(), (value % 3600.0 / 60.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_written_as_ranges() {
        assert_eq!(ranges(&[0]), "0");
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        assert_eq!((ranks(&[3]), ranks(&[0, 1])), ("rank 3".to_owned(), "ranks 0-1".to_owned()));
    }

    #[test]
    fn ranks_of_other_hosts_are_named_with_them() {
        let host = |name: &str, ranks: &[u32]| HostRanks { name: name.into(), ranks: ranks.to_vec() };
        assert_eq!(elsewhere(&[], 4), None);
        let hosts = [host("h1", &[0, 1]), host("h2", &[2, 3]), host("h3", &[4])];
        assert_eq!(elsewhere(&hosts, 5).as_deref(), Some("ranks 2-3 are on h2, rank 4 is on h3"));
        assert_eq!(elsewhere(&hosts[..1], 4).as_deref(), Some("ranks 2-3 are on further hosts"));
        let many: Vec<HostRanks> = (0..40).map(|i| host("h", &[i])).collect();
        let text = elsewhere(&many, 41).unwrap_or_default();
        assert!(text.ends_with(", rank 16 is on h, ranks 17-40 are on further hosts"), "{text}");
    }

    #[test]
    fn an_error_of_the_command_line_begins_with_the_program() {
        let text = "error: unexpected argument '--foo' found\n\n  tip: to pass '--foo' as a value, use '-- --foo'\n\nUsage: x [JOB]\n";
        assert_eq!(usage_error("mpitop", text), "mpitop: unexpected argument '--foo' found\n\nUsage: x [JOB]\n");
    }

    #[test]
    fn amounts_have_at_most_four_digits() {
        assert_eq!(
            [0.0, 7.0, 999.0, 1000.0, 12345.0, 999_600.0].map(amount),
            ["0", "7", "999", "1.00k", "12.3k", "1.00M"]
        );
        assert_eq!([0.5, 1023.4, 1024.0, 1e6].map(bytes), ["0.50 B", "1023 B", "1.00 KiB", "977 KiB"]);
        assert_eq!(amount(f64::MAX).len(), amount(f64::MAX).trim().len());
    }

    #[test]
    fn times_have_a_unit_that_suits_them() {
        let times = [0.0, 12e-6, 0.035_12, 1.2, 130.0, 7380.0].map(seconds);
        assert_eq!(times, ["0 s", "12.0 us", "35.1 ms", "1.20 s", "130 s", "2 h 03 min"]);
    }
}

//! Phrases that errors of several crates have in common.

/// `1 process`, or `4 processes`.
pub fn processes(number: impl Into<u64>) -> String {
    match number.into() {
        1 => "1 process".to_owned(),
        number => format!("{number} processes"),
    }
}

/// The same with the ranks that there are: `4 processes, ranks 0 to 3`.
pub fn processes_and_ranks(number: impl Into<u64>) -> String {
    match number.into() {
        0 => "0 processes".to_owned(),
        1 => "1 process, rank 0".to_owned(),
        number => format!("{number} processes, ranks 0 to {}", number - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_is_singular() {
        assert_eq!([0, 1, 2u32].map(processes), ["0 processes", "1 process", "2 processes"]);
        let ranks = ["0 processes", "1 process, rank 0", "2 processes, ranks 0 to 1"];
        assert_eq!([0, 1, 2u32].map(processes_and_ranks), ranks);
    }
}

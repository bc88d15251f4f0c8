//! The names of the options, each with one or two dashes before it.

use mpi_core::text;

use super::Listing;

/// The meaning of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Help,
    Version,
    Processes,
    Soft,
    Host,
    Hostfile,
    PerNode,
    MapBy,
    Manager,
    Oversubscribe,
    Arch,
    Wdir,
    Path,
    File,
    Configfile,
    Env,
    Export,
    Genv,
    TagOutput,
    Timestamp,
    Output,
    Timeout,
    HangReport,
    Gdb,
    Bind,
    Stdin,
    Quiet,
    Verbose,
    ErrorFormat,
    InitialErrhandler,
    Cvar,
    Settings,
    Tool,
    Profile,
    Trace,
    Timeline,
    Stats,
    List(Listing),
    /// An option for what this launcher does anyway; other launchers need it.
    Needless,
}

/// The names, as suggested to the user.
const NAMES: [(&str, Meaning); 63] = {
    use Meaning::*;
    [
        ("--help", Help),
        ("-h", Help),
        ("-?", Help),
        ("--version", Version),
        ("-V", Version),
        ("-n", Processes),
        ("-np", Processes),
        ("-c", Processes),
        ("-soft", Soft),
        ("-host", Host),
        ("-hosts", Host),
        ("-H", Host),
        ("-hostfile", Hostfile),
        ("-machinefile", Hostfile),
        ("-f", Hostfile),
        ("-ppn", PerNode),
        ("-perhost", PerNode),
        ("-npernode", PerNode),
        ("-ntasks-per-node", PerNode),
        ("--map-by", MapBy),
        ("--manager", Manager),
        ("-arch", Arch),
        ("-wdir", Wdir),
        ("-wd", Wdir),
        ("-path", Path),
        ("-file", File),
        ("-configfile", Configfile),
        ("-env", Env),
        ("-x", Export),
        ("-genv", Genv),
        ("--tag-output", TagOutput),
        ("-l", TagOutput),
        ("-prepend-rank", TagOutput),
        ("--timestamp", Timestamp),
        ("--timestamp-output", Timestamp),
        ("--output", Output),
        ("--timeout", Timeout),
        ("--hang-report", HangReport),
        ("--gdb", Gdb),
        ("--bind", Bind),
        ("--bind-to", Bind),
        ("--stdin", Stdin),
        ("--quiet", Quiet),
        ("-q", Quiet),
        ("--verbose", Verbose),
        ("-v", Verbose),
        ("--error-format", ErrorFormat),
        ("--initial-errhandler", InitialErrhandler),
        ("--cvar", Cvar),
        ("--settings", Settings),
        ("--tool", Tool),
        ("--profile", Profile),
        ("--trace", Trace),
        ("--timeline", Timeline),
        ("--stats", Stats),
        ("--help-cvars", List(Listing::Cvars)),
        ("--help-pvars", List(Listing::Pvars)),
        ("--help-events", List(Listing::Events)),
        ("--help-categories", List(Listing::Categories)),
        ("--oversubscribe", Oversubscribe),
        ("--allow-run-as-root", Needless),
        ("-envall", Needless),
        ("-genvall", Needless),
    ]
};

/// The meaning of the option with this name, its dashes included.
pub(super) fn find(name: &str) -> Option<Meaning> {
    let found = NAMES.iter().find(|(known, _)| bare(known) == bare(name) && bare(name).len() < name.len());
    found.map(|(_, meaning)| *meaning)
}

/// What may be meant by an unknown option: `-n2` is a number of processes, else the option whose name is nearest.
pub(super) fn meant(word: &str) -> Option<String> {
    let number = |name: &str| {
        let digits = bare(word).strip_prefix(name)?.trim_start_matches('=');
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| format!("-{name} {digits}"))
    };
    ["np", "n", "c"].into_iter().find_map(number).or_else(|| nearest(word).map(str::to_owned))
}

/// The option whose name is nearest to an unknown one.
fn nearest(word: &str) -> Option<&'static str> {
    let name = word.split('=').next().unwrap_or(word);
    // Options of one or two letters are similar to every short word.
    let known = NAMES.iter().map(|(known, _)| *known).filter(|known| bare(known).len() > 2);
    text::nearest(name, known, |text| bare(text).to_ascii_lowercase())
}

/// A name without its one or two dashes.
pub(super) fn bare(name: &str) -> &str {
    name.strip_prefix("--").or(name.strip_prefix('-')).unwrap_or(name)
}

/// All names.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

/// Whether another name of the same meaning precedes it.
#[cfg(test)]
pub(super) fn is_alias(name: &str) -> bool {
    let first = NAMES.iter().find(|(_, meaning)| Some(*meaning) == find(name));
    first.is_some_and(|(first, _)| *first != name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_two_dashes_are_the_same() {
        assert_eq!(find("-np"), Some(Meaning::Processes));
        assert_eq!(find("--np"), Some(Meaning::Processes));
        assert_eq!(find("-tag-output"), Some(Meaning::TagOutput));
        for none in ["np", "n", "---n", "-", "--", "-=", ""] {
            assert_eq!(find(none), None, "{none}");
        }
    }

    #[test]
    fn a_mistyped_option_is_recognised() {
        assert_eq!(nearest("--tag-ouput"), Some("--tag-output"));
        assert_eq!(nearest("-workdir"), Some("-wdir"));
        assert_eq!(nearest("--time-out=3"), Some("--timeout"));
        assert_eq!(nearest("-configfle"), Some("-configfile"));
        assert_eq!(nearest("--frobnicate"), None);
    }

    #[test]
    fn no_name_stands_twice() {
        for (i, (name, _)) in NAMES.iter().enumerate() {
            assert!(NAMES[i + 1..].iter().all(|(other, _)| bare(other) != bare(name)), "{name}");
        }
    }
}

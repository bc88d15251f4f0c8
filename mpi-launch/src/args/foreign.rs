//! Options of other launchers that this one does not have, with their alternatives.
//!
//! Not here: options of other launchers that this one accepts (`names`).

use super::names::bare;

const DISTRIBUTION: &str = "write -ppn NUMBER for the ranks a host, or --map-by node, slot or ppr:N:node";
const HOSTS: &str = "write -host a,b:4, or -hostfile FILE with a host a line";
const ALL_VARIABLES: &str = "all variables of the environment are passed on: set or empty single ones by -env NAME VALUE, or start mpiexec by env";
const NO_PLACES: &str = "write --bind cores, --bind none or --bind auto; --verbose prints the core of each rank";
const OUTPUT: &str = "write --output DIR, which makes the files rank.N.out and rank.N.err in a directory";
const SETTINGS: &str = "settings of this library are control variables: write --cvar NAME=VALUE (mpiexec --help-cvars)";
const STARTER: &str =
    "write --manager srun, prterun or hydra; what that launcher itself needs is set by its own environment variables";
const NO_DEBUGGER: &str = "start the debugger for each rank: mpiexec -n 2 gdb --args PROGRAM";

/// Names with one or two dashes, and the alternatives.
const OPTIONS: &[(&[&str], &str)] = &[
    (&["-N", "-npersocket", "-ranks-per-proc", "-pernode"], DISTRIBUTION),
    (&["-rank-by", "-ppr", "-bynode", "-byslot", "-rr", "-grr", "-distribution"], DISTRIBUTION),
    (&["-machine", "-hostlist", "-nodes", "-nolocal", "-default-hostfile"], HOSTS),
    (&["-genvnone", "-genvlist", "-envnone", "-envlist", "-genvuser"], ALL_VARIABLES),
    (&["-cpu-set", "-cpu-list", "-cpus-per-proc", "-cpus-per-rank", "-report-bindings"], NO_PLACES),
    (&["-use-hwthread-cpus", "-membind", "-bind-to-core", "-bind-to-socket", "-bycore", "-bysocket"], NO_PLACES),
    (&["-output-filename", "-outfile-pattern", "-errfile-pattern", "-outfile", "-errfile"], OUTPUT),
    (&["-mca", "-gmca", "-prtemca", "-pmixmca", "-tune", "-am", "-ofi", "-ucx"], SETTINGS),
    (&["-launcher", "-launcher-exec", "-bootstrap", "-rmk", "-rsh", "-iface", "-prefix"], STARTER),
    (&["-dvm", "-personality", "-preload-binary", "-enable-x", "-disable-x", "-disable-auto-cleanup"], STARTER),
    (&["-gdba", "-gdb-ia", "-tv", "-debug", "-xterm"], NO_DEBUGGER),
];

/// The alternative to an option of another launcher.
pub(super) fn instead(name: &str) -> Option<&'static str> {
    let is = |known: &&&str| bare(known) == bare(name) && bare(name).len() < name.len();
    OPTIONS.iter().find(|(names, _)| names.iter().any(|known| is(&known))).map(|(_, instead)| *instead)
}

#[cfg(test)]
mod tests {
    use super::super::names;
    use super::*;

    #[test]
    fn options_of_other_launchers_have_a_sentence_and_no_second_meaning() {
        for name in ["-rr", "--rank-by", "-hostlist", "--machine", "-N", "--mca", "-genvlist"] {
            assert!(
                instead(name).is_some_and(|sentence| sentence.contains(": ") || sentence.contains("write ")),
                "{name}"
            );
        }
        assert_eq!((instead("ppn"), instead("-n"), instead("--frobnicate"), instead("-")), (None, None, None, None));
        for name in OPTIONS.iter().flat_map(|(names, _)| *names) {
            assert_eq!(names::find(name), None, "{name}");
        }
    }
}

//! The values that settings file, environment and options give the control variables of the ranks; read once, before
//! anything starts.
//!
//! Invariant: values in file and options that a rank of this release would refuse are refused here, all at once and
//! once for the whole job; an unknown name is accepted where a plug-in may add it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use mpi_t::{CVAR_OPTION, Registry, SettingsFile, Source, UnknownName, name_in_environment};

use crate::args::Options;
use crate::variables::{self, Followed};

/// The values.
pub(super) struct CvarValues {
    /// The variables that mpiexec itself uses.
    pub(super) followed: Followed,
    /// The lines of the settings file, for the ranks.
    pub(super) file: String,
    /// The faults, in sentences: first the file's lines in their order, then the options.
    pub(super) faults: Vec<String>,
}

impl CvarValues {
    /// Reads all of them.
    pub(super) fn read(options: &Options) -> CvarValues {
        let own = std::env::vars_os().filter(|(name, _)| !mpi_wireup::is_reserved(name));
        let environment: BTreeMap<OsString, OsString> = own.chain(options.variables.iter().cloned()).collect();
        let file = match &options.settings {
            Some(path) => SettingsFile::read(path),
            None => SettingsFile::find(&|name| environment.get(&OsString::from(name)).cloned()),
        };
        let text = file.to_text();
        let named = environment.into_iter().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let registry =
            Registry::with_values(file, named.map(|(name, value)| (name, value.to_string_lossy().into_owned())));
        options.cvars.iter().for_each(|(name, value)| registry.give_value(CVAR_OPTION, name, value));
        let followed = variables::register(&registry).expect("no two control variables have one name");
        // The ranks check the environment: not every program uses MPI, and a program may handle the error.
        let mut faults = registry.startup_errors_with_source();
        faults.retain(|(source, _)| *source != Source::Environment);
        faults.extend(misspelt(&registry));
        if !faults.is_empty() {
            faults.extend(registry.misspelt_in_file());
        }
        faults.sort_by_key(|(source, _)| *source);
        CvarValues { followed, file: text, faults: faults.into_iter().map(|(_, sentence)| sentence).collect() }
    }
}

/// The sentences on options whose names resemble the name of a variable.
fn misspelt(registry: &Registry) -> Vec<(Source, String)> {
    let of_option = |name: &UnknownName| name.is_near_another && matches!(name.source, Source::Option { .. });
    let sentence = |found: UnknownName| {
        let variable = name_in_environment(&found.name);
        let otherwise =
            format!("For a variable that a plug-in adds under this name, set {variable} in the environment");
        (found.source, format!("{} {otherwise}", found.sentence))
    };
    registry.unknown_names().into_iter().filter(of_option).map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cvars(pairs: &[(&str, &str)]) -> CvarValues {
        let cvars = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        // An empty name of a file: no file is read.
        CvarValues::read(&Options {
            cvars,
            variables: vec![("FERRUM_SETTINGS".into(), "".into())],
            ..Options::default()
        })
    }

    #[test]
    fn what_a_rank_would_refuse_is_refused_and_what_a_plug_in_may_accept_is_not() {
        let good = cvars(&[("fabric_ring_bytes", "64k"), ("win_direct", "no"), ("plug_in_limit", "7")]);
        assert_eq!((good.followed.fabric.ring_length(), good.faults), (Some(65536), vec![]));
        let wrong = [("p2p_eager_limt", "1"), ("error_format", "json"), ("p2p_eager_limit", "much")];
        let bad = cvars(&wrong);
        assert!(bad.followed.json);
        let [misspelt, much] = &*bad.faults else { panic!("{:?}", bad.faults) };
        assert!(
            misspelt.contains("did you mean p2p_eager_limit?") && misspelt.contains("FERRUM_P2P_EAGER_LIMT"),
            "{misspelt}"
        );
        assert!(much.starts_with("--cvar p2p_eager_limit is \"much\", but it takes a whole number"), "{much}");
    }
}

//! What the control variables of the ranks are given: a file, the environment, options; read once, before anything starts.
//!
//! Invariant: what a rank of this release would refuse of file and options is refused here, in one sentence for the whole job; a
//! name that no variable has passes where a plug-in may add it.
//! Not here: what the variables are (`variables`), how ranks get the values (`environment`).

use std::collections::BTreeMap;
use std::ffi::OsString;

use mpi_t::{Registry, SettingsFile, Source, name_in_environment};

use crate::args::Options;
use crate::variables::{self, Known};
use crate::wireup;

/// The option that gives one variable its value.
const OPTION: &str = "--cvar";

/// What was found.
pub(super) struct Surroundings {
    /// What mpiexec itself follows.
    pub(super) known: Known,
    /// What the settings file says, for the ranks.
    pub(super) file: String,
}

impl Surroundings {
    /// Reads all of it. A sentence where something is wrong.
    pub(super) fn read(options: &Options) -> Result<Surroundings, String> {
        let own = std::env::vars_os().filter(|(name, _)| !wireup::is_reserved(name));
        let environment: BTreeMap<OsString, OsString> = own.chain(options.variables.iter().cloned()).collect();
        let file = match &options.settings {
            Some(path) => SettingsFile::read(path),
            None => SettingsFile::find(&|name| environment.get(&OsString::from(name)).cloned()),
        };
        let text = file.to_text();
        let named = environment.into_iter().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let registry =
            Registry::with_values(file, named.map(|(name, value)| (name, value.to_string_lossy().into_owned())));
        options.cvars.iter().for_each(|(name, value)| registry.give_value(OPTION, name, value));
        let known = variables::register(&registry).map_err(|error| error.to_string())?;
        // The environment is the ranks' own: not each program is one of MPI, and one may handle the error.
        let errors = registry.startup_errors_with_source().into_iter();
        if let Some((_, sentence)) = errors.into_iter().find(|(source, _)| *source != Source::Environment) {
            return Err(sentence);
        }
        match misspelt(&registry) {
            Some(sentence) => Err(sentence),
            None => Ok(Surroundings { known, file: text }),
        }
    }
}

/// The sentence on an option whose name is nearly a variable's.
fn misspelt(registry: &Registry) -> Option<String> {
    let of_option = |source| matches!(source, Source::Option(_));
    let found = registry.unknown_names().into_iter().find(|name| name.is_near_another && of_option(name.source))?;
    let variable = name_in_environment(&found.name);
    Some(format!(
        "{} For a variable that a plug-in adds under this name, set {variable} in the environment",
        found.sentence
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cvars(pairs: &[(&str, &str)]) -> Result<Surroundings, String> {
        let cvars = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        // An empty name of a file: none is read.
        Surroundings::read(&Options {
            cvars,
            variables: vec![("FERRUM_SETTINGS".into(), "".into())],
            ..Options::default()
        })
    }

    #[test]
    fn what_a_rank_would_refuse_is_refused_and_what_a_plug_in_may_know_is_not() {
        let known =
            cvars(&[("fabric_ring_bytes", "64k"), ("plug_in_limit", "7")]).map(|found| found.known).expect("good");
        assert_eq!(known.fabric.ring_length(), Some(65536));
        let bad = cvars(&[("p2p_eager_limit", "much")]).err().expect("bad");
        assert!(bad.starts_with("--cvar p2p_eager_limit is \"much\", but it takes a whole number"), "{bad}");
        let misspelt = cvars(&[("p2p_eager_limt", "1")]).err().expect("misspelt");
        assert!(
            misspelt.contains("did you mean p2p_eager_limit?") && misspelt.contains("FERRUM_P2P_EAGER_LIMT"),
            "{misspelt}"
        );
    }
}

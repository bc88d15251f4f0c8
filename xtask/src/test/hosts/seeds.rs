//! The random cases of the suite `collectives`, from its seed, with two ranks on each of two hosts.
//!
//! Not here: the same between ranks of one host (`collectives`).

use super::super::{Context, Report, collectives, network};
use super::cases;
use crate::Result;
use crate::lab::Lab;
use crate::peers::Library;
use std::path::Path;

/// Programs, with the number of cases of each function or of batches, and the number of threads of `mix`.
const PROGRAMS: [(&str, &str, &str); 2] = [("every", "1", ""), ("mix", "10", "1")];

/// All of them.
pub fn run(context: &Context, lab: &Lab, work: &Path, report: &mut Report) -> Result<()> {
    if network::skips_without_libfabric("seeds", report) {
        return Ok(());
    }
    let dist = context.dist()?;
    let seed = collectives::seed(context);
    collectives::compile_random(&Library::ferrum(dist), work)?;
    for (program, cases_of_each, threads) in PROGRAMS {
        let name = format!("seeds: {program} {threads}");
        let line = format!("hydra -n 4 -host h1,h2 $W/{program} {seed} {cases_of_each} strict {threads}; echo code $?");
        cases(lab, dist, work, &[(name.trim_end(), &line, &["No Errors\n", "code 0\n"])], report)?;
    }
    Ok(())
}

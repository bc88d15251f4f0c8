//! `--bind`: a core for each rank.
//!
//! The default binds only if the job has exactly as many ranks as there are cores: with fewer, two jobs on one machine
//! would take the same cores while others idle; with more, the system distributes them better.

use mpi_fabric::host;

use super::os;
use super::refusal::Refusal;
use crate::args::Bind;

/// The cores of the ranks, in their order; `None` if the system chooses.
pub(super) fn cores(bind: Bind, ranks: u32) -> Result<Option<Vec<usize>>, Refusal> {
    choose(bind, ranks, &os::allowed_cores(), host::usable_cores())
}

/// `allowed` is the affinity mask, `usable` the number of cores that the quota of the control group allows at once.
fn choose(bind: Bind, ranks: u32, allowed: &[usize], usable: u32) -> Result<Option<Vec<usize>>, Refusal> {
    let enough = allowed.len() >= ranks as usize;
    let wanted = match bind {
        Bind::None => false,
        Bind::Cores if !enough => return Err(Refusal::Cores { ranks, cores: allowed.len() }),
        Bind::Cores => true,
        Bind::Auto => ranks > 1 && allowed.len() == ranks as usize && usable >= ranks,
    };
    Ok(wanted.then(|| allowed[..ranks as usize].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_itself_only_when_ranks_and_cores_are_as_many() {
        let auto = |ranks, allowed: &[usize], usable| choose(Bind::Auto, ranks, allowed, usable).unwrap();
        assert_eq!(auto(2, &[3, 5], 2), Some(vec![3, 5]));
        assert_eq!(auto(2, &[3, 5, 6], 3), None);
        assert_eq!(auto(3, &[3, 5], 2), None);
        assert_eq!(auto(1, &[3], 1), None);
        assert_eq!(auto(2, &[3, 5], 1), None, "a quota below the mask");
    }

    #[test]
    fn bind_cores_needs_a_core_for_each_rank() {
        assert_eq!(choose(Bind::Cores, 1, &[4, 7], 2).unwrap(), Some(vec![4]));
        assert!(choose(Bind::Cores, 3, &[4, 7], 2).unwrap_err().to_string().contains("3 ranks, but there are 2"));
        assert_eq!(choose(Bind::None, 2, &[4, 7], 2).unwrap(), None);
    }
}

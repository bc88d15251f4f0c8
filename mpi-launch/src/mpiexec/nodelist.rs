//! The hosts of a Slurm allocation, by its environment.
//!
//! Invariant: a list that is no list of hosts is an error, and its expansion is bounded.

use std::ffi::OsString;

use mpi_fabric::layout::MAX_RANKS;

use crate::args::HostEntry;

/// The hosts of the allocation with their slots; `None` outside of one.
/// # Errors
/// A sentence with the variable that is malformed.
pub(super) fn allocation(get: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<Vec<HostEntry>>, String> {
    if get("SLURM_JOB_ID").is_none() {
        return Ok(None);
    }
    let text = |name: &str| get(name).and_then(|value| value.into_string().ok());
    let Some(list) = text("SLURM_JOB_NODELIST").or_else(|| text("SLURM_NODELIST")) else { return Ok(None) };
    let names = expand(&list).ok_or_else(|| format!("SLURM_JOB_NODELIST is {list:?}, which is no list of hosts"))?;
    let counts = text("SLURM_TASKS_PER_NODE").or_else(|| text("SLURM_JOB_CPUS_PER_NODE")).unwrap_or_default();
    let counts = repeated(&counts);
    let entry = |(i, name): (usize, String)| HostEntry { name, slots: counts.get(i).copied() };
    Ok(Some(names.into_iter().enumerate().map(entry).collect()))
}

/// `a,b[1-3,07]c` as single names; `None` for what is no such list.
fn expand(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for item in split(list)? {
        let mut found = vec![String::new()];
        let mut rest = item;
        while let Some((before, after)) = rest.split_once('[') {
            let (ranges, after) = after.split_once(']')?;
            let numbers = numbers(ranges)?;
            let longer =
                |begin: &String| numbers.iter().map(|number| format!("{begin}{before}{number}")).collect::<Vec<_>>();
            if found.len() * numbers.len() > MAX_RANKS as usize * 16 {
                return None;
            }
            found = found.iter().flat_map(longer).collect();
            rest = after;
        }
        found.iter_mut().for_each(|name| name.push_str(rest));
        names.extend(found);
    }
    let plain = |name: &String| {
        !name.is_empty()
            && !name.starts_with('-')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    };
    (!names.is_empty() && names.iter().all(plain)).then_some(names)
}

/// Divides at commas that are in no brackets.
fn split(list: &str) -> Option<Vec<&str>> {
    let (mut items, mut from, mut inside) = (Vec::new(), 0, false);
    for (at, letter) in list.char_indices() {
        match letter {
            '[' if !inside => inside = true,
            ']' if inside => inside = false,
            '[' | ']' => return None,
            ',' if !inside => {
                items.push(&list[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    items.push(&list[from..]);
    (!inside).then_some(items)
}

/// `1-3,07` as texts of numbers, with their leading zeroes.
fn numbers(ranges: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let (low, high) = (number(first)?, number(last)?);
        if high < low || high - low > MAX_RANKS * 16 {
            return None;
        }
        all.extend((low..=high).map(|number| format!("{number:0width$}", width = first.len())));
    }
    Some(all)
}

/// `4(x2),3` as numbers.
fn repeated(counts: &str) -> Vec<u32> {
    let mut all = Vec::new();
    for item in counts.split(',') {
        let (count, times) = match item.split_once("(x") {
            Some((count, times)) => (count, times.trim_end_matches(')').parse().unwrap_or(0)),
            None => (item, 1),
        };
        let Some(count) = count.parse::<u32>().ok().filter(|count| *count > 0) else { return Vec::new() };
        all.extend(std::iter::repeat_n(count, times.min(MAX_RANKS as usize * 16)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_expanded() {
        let texts = |list: &str| expand(list).map(|names| names.join(" "));
        assert_eq!(texts("h1").as_deref(), Some("h1"));
        assert_eq!(texts("h[1-3,07],gpu-[08-10]x,z").as_deref(), Some("h1 h2 h3 h07 gpu-08x gpu-09x gpu-10x z"));
        assert_eq!(texts("r[1-2]n[1-2]").as_deref(), Some("r1n1 r1n2 r2n1 r2n2"));
        for bad in ["", ",", "h[1", "h1]", "h[2-1]", "h[a]", "h[1-99999999]", "a b", "h[[1]]", "-x"] {
            assert_eq!(texts(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_allocation_has_hosts_and_slots() {
        let get = |pairs: &[(&str, &str)], name: &str| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        let of = |pairs: &[(&str, &str)]| allocation(&|name| get(pairs, name));
        assert_eq!(of(&[("SLURM_JOB_NODELIST", "h1")]), Ok(None));
        let found = of(&[("SLURM_JOB_ID", "1"), ("SLURM_JOB_NODELIST", "h[1-3]"), ("SLURM_TASKS_PER_NODE", "4(x2),3")]);
        let slots: Vec<_> = found.unwrap().unwrap().into_iter().map(|host| (host.name, host.slots)).collect();
        assert_eq!(slots, [("h1".into(), Some(4)), ("h2".into(), Some(4)), ("h3".into(), Some(3))]);
        assert!(of(&[("SLURM_JOB_ID", "1"), ("SLURM_JOB_NODELIST", "h[")]).unwrap_err().contains("\"h[\""));
    }
}

//! Command lines with the commands that they parse to, and the sentences on malformed ones.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use mpi_fabric::layout::{MAX_HOST_RANKS, MAX_RANKS};
use proptest::prelude::*;

use super::*;

/// Files that command lines here may name.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let text = match file.to_str().unwrap() {
        "two" => "# ocean and air\n-n 5 -env K 'a b' ocean : x\n\n-n 10 \\\n atmos\n",
        "job" => "--tag-output\n-n 2 a\n",
        "bad" => "-n 2 a\n-n x b\n",
        "quote" => "a 'b\n",
        "nested" => "-configfile two\n",
        "empty" => "# nothing\n",
        "options" => "# more\n-wdir /tmp\n-env A 1\n",
        _ => return Err(io::ErrorKind::NotFound.into()),
    };
    Ok(text.into())
}

fn parse_words(words: &[&str]) -> Result<Command, ArgsError> {
    parse(words.iter().map(OsString::from), &read)
}

fn parse_line(line: &str) -> Run {
    match parse_words(&line.split_whitespace().collect::<Vec<_>>()) {
        Ok(Command::Run(run)) => run,
        other => panic!("{line}: {other:?}"),
    }
}

/// Programs with their numbers and arguments.
fn programs(run: &Run) -> Vec<(Option<u32>, String)> {
    let command = |group: &Group| {
        let words = std::iter::once(&group.program).chain(&group.arguments);
        words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    };
    run.groups.iter().map(|group| (group.processes, command(group))).collect()
}

fn pairs(variables: &[Variable]) -> Vec<(&str, &str)> {
    variables.iter().map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap())).collect()
}

#[test]
fn a_number_of_processes_without_a_blank_and_a_variable_without_a_value_are_explained() {
    let parsed = |line: &str| parse_words(&line.split_whitespace().collect::<Vec<_>>());
    let sentence = |line: &str| parsed(line).unwrap_err().to_string();
    assert!(sentence("-n2 ./a").starts_with("unknown option \"-n2\"; did you mean -n 2? "), "{}", sentence("-n2 ./a"));
    assert!(sentence("--np16 ./a").contains("did you mean -np 16? "), "{}", sentence("--np16 ./a"));
    assert!(!sentence("-n2x ./a").contains("did you mean -n "), "{}", sentence("-n2x ./a"));
    assert_eq!(
        sentence("-env FOO -n 1 ./a"),
        "option -env FOO is \"-n\", but has to be followed by a value: -env \"FOO=-n\" sets one that is the name of an \
         option"
    );
    assert!(parsed("-env FOO=-n -n 1 ./a").is_ok() && parsed("-env FOO -O2 -n 1 ./a").is_ok());
}

#[test]
fn options_end_at_the_program() {
    assert_eq!(programs(&parse_line("-n 4 ./a -n x --")), [(Some(4), "./a -n x --".into())]);
    assert_eq!(programs(&parse_line("-np 2 -- -odd 1")), [(Some(2), "-odd 1".into())]);
    assert_eq!(programs(&parse_line("--np=3 prog -")), [(Some(3), "prog -".into())]);
    assert_eq!(programs(&parse_line("prog")), [(None, "prog".into())]);
    assert_eq!(programs(&parse_line("-- prog : x")), [(None, "prog : x".into())]);
}

#[test]
fn the_standards_examples_are_understood() {
    assert_eq!(programs(&parse_line("-n 16 myprog")), [(Some(16), "myprog".into())]);
    let files = parse_line("myprog infile1 : myprog infile2 : myprog infile3");
    assert_eq!(
        programs(&files).iter().map(|(_, words)| &words[..]).collect::<Vec<_>>(),
        ["myprog infile1", "myprog infile2", "myprog infile3"]
    );
    let two = parse_line("-n 5 -arch sun ocean : -n 10 -arch rs6000 -host ferrari atmos");
    assert_eq!(programs(&two), [(Some(5), "ocean".into()), (Some(10), "atmos".into())]);
    assert_eq!(two.groups[1].arch, Some("rs6000".into()));
    assert_eq!((&two.groups[0].host, &two.groups[1].host), (&None, &Some("ferrari".into())));
}

#[test]
fn a_configfile_gives_all_programs() {
    let run = parse_line("--timeout 3 -configfile two");
    assert_eq!(programs(&run), [(Some(5), "ocean : x".into()), (Some(10), "atmos".into())]);
    assert_eq!(pairs(&run.groups[0].variables), [("K", "a b")]);
    assert!(parse_line("-configfile job").options.tag_output);
}

#[test]
fn a_file_of_options_stands_for_its_words() {
    let run = parse_line("-n 2 -file options a : b");
    assert_eq!(run.groups[0].wdir.as_deref(), Some(Path::new("/tmp")));
    assert_eq!(pairs(&run.groups[0].variables), [("A", "1")]);
    assert_eq!(run.groups[1].wdir, None);
}

#[test]
fn variables_have_four_forms() {
    let run =
        parse_line("-env A 1 -env B=2 -x C=3 -x D -genv E 5 -env F -O2 a : -genv G=7 --cvar wait=spin --settings s b");
    assert_eq!(pairs(&run.groups[0].variables), [("A", "1"), ("B", "2"), ("C", "3"), ("F", "-O2")]);
    assert_eq!(run.groups[0].passed, ["D"]);
    assert_eq!(pairs(&run.options.variables), [("E", "5"), ("G", "7")]);
    assert_eq!(run.options.cvars, [("wait".to_owned(), "spin".to_owned())]);
    assert_eq!(run.options.settings.as_deref(), Some(Path::new("s")));
}

#[test]
fn options_of_the_job_stand_in_any_part() {
    let run = parse_line(
        "-l --timestamp -output out --timeout 2.5 a : --bind none --stdin all -quiet -v --oversubscribe \
         --error-format json --initial-errhandler mpi_errors_return --tool calls --profile --trace=t.json --timeline l.json --stats=s.html \
         --tool x.so b",
    );
    let due = Options {
        variables: vec![],
        cvars: vec![("error_format".into(), "json".into())],
        settings: None,
        tools: vec!["calls".into(), "x.so".into()],
        profile: true,
        trace: Some("t.json".into()),
        timeline: Some("l.json".into()),
        stats: Some(Some("s.html".into())),
        tag_output: true,
        timestamp: true,
        output: Some("out".into()),
        timeout: Some(Some(Duration::from_millis(2500))),
        hostfile: None,
        map_by: None,
        oversubscribe: true,
        manager: None,
        hang_report: None,
        gdb: None,
        bind: Bind::None,
        input: Input::All,
        quiet: true,
        verbose: true,
        error_format: Some(ErrorFormat::Json),
        initial_errhandler: Some("mpi_errors_return"),
    };
    assert_eq!(run.options, due);
}

#[test]
fn the_file_of_the_summary_stands_behind_an_equals_sign_only() {
    let run = parse_line("--stats -n 2 a");
    assert_eq!((run.options.stats, programs(&parse_line("--stats a b"))), (Some(None), vec![(None, "a b".into())]));
    assert!(parse_words(&["--stats=", "a"]).is_err() && parse_words(&["--stats", "--stats=x", "a"]).is_err());
}

#[test]
fn help_and_version_need_no_program() {
    assert_eq!(parse_words(&["-n", "2", "--help", "x"]), Ok(Command::Help));
    assert_eq!(parse_words(&["--version"]), Ok(Command::Version));
    assert_eq!(parse_words(&["--help-cvars"]), Ok(Command::List(Listing::Cvars, vec![])));
    let words = vec!["p2p".to_owned(), "unexpected".to_owned()];
    assert_eq!(parse_words(&["--help-pvars", "p2p", "unexpected"]), Ok(Command::List(Listing::Pvars, words)));
}

#[test]
fn the_help_is_complete_and_narrow() {
    for name in super::names::all() {
        let known = ["--", "-"].iter().any(|dash| HELP.contains(&format!("{dash}{}", name.trim_start_matches('-'))));
        assert!(known || super::names::is_alias(name), "{name} is not explained");
    }
    let numbers = format!("1 to {MAX_RANKS} in all, {MAX_HOST_RANKS} a host");
    assert!(HELP.contains(&numbers), "{numbers}");
    let wide = HELP.lines().find(|line| line.len() > 92);
    assert_eq!(wide, None);
}

#[test]
fn the_manual_page_has_every_option_of_the_help() {
    let page = include_str!("../../../docs/man/mpiexec.1").replace("\\-", "-");
    for name in super::names::all().filter(|name| !super::names::is_alias(name)) {
        assert!(page.contains(name), "docs/man/mpiexec.1 does not explain {name}");
    }
    let numbers = format!("1 to {MAX_RANKS} in all parts together, {MAX_HOST_RANKS} of them on one host");
    assert!(page.contains(&numbers), "{numbers}");
    for code in ["124", "126", "127", "128+"] {
        assert!(page.contains(code), "docs/man/mpiexec.1 does not explain the exit code {code}");
    }
}

#[test]
fn each_mistake_is_named() {
    for (line, text) in [
        ("", "no program"),
        ("-n 2", "no program"),
        ("--", "no program"),
        ("a :", "part 2"),
        (": a", "part 1"),
        ("a : : b", "part 2"),
        ("-n", "-n needs a number"),
        ("-np 0 x", "-np is \"0\""),
        (&format!("-n {} x", MAX_RANKS + 1), &format!("1 to {MAX_RANKS}")),
        ("-n -3 x", "\"-3\""),
        ("-n +3 x", "\"+3\""),
        ("-n 99999999999999999999 x", "from 1 to"),
        ("-n 1 -np 1 x", "-np is given twice for one program"),
        ("--frobnicate x", "\"--frobnicate\""),
        ("-N 4 x", "no option -N: write -ppn NUMBER"),
        ("--map-by=socket x", "node, slot, core or ppr:N:node"),
        ("-ppn 0 x", "-ppn is \"0\""),
        ("-ppn 2 --map-by node x", "--map-by is given twice"),
        ("-host a,,b x", "names of hosts"),
        ("-hostfile nothing x", "cannot read the file \"nothing\" that -hostfile names"),
        ("-hostfile two x", "\"two\", line 2: \"-n\": a host is a name"),
        ("--manager rsh x", "srun, prterun or hydra"),
        ("-hostlist hosts x", "no option -hostlist: write -host a,b:4"),
        ("--mca btl self x", "--cvar NAME=VALUE"),
        ("--tag-ouput x", "unknown option \"--tag-ouput\"; did you mean --tag-output? mpiexec --help lists"),
        ("--tag-output=yes x", "\"yes\""),
        ("-soft 2:1 x", "\"2:1\""),
        ("-soft", "-soft needs"),
        ("-host", "-host needs"),
        ("-env A", "-env needs"),
        ("-env = x", "\"=\""),
        ("-x FERRUM_RANK=3 x", "\"FERRUM_RANK=3\""),
        ("--timeout soon x", "\"soon\""),
        ("--timeout=-5 x", "\"-5\""),
        ("--timeout 1 --timeout 2 x", "--timeout is given twice"),
        ("--bind numa x", "cores, none or auto"),
        ("--stdin some x", "\"some\""),
        ("--error-format xml x", "text or json"),
        ("--initial-errhandler none x", "mpi_errors_return"),
        ("--cvar a x", "NAME=VALUE"),
        ("--settings", "--settings needs a file"),
        ("--settings a --settings b x", "twice"),
        ("--settings ./cv", "no program to run is given: \"./cv\" is the file of --settings; mpiexec --help"),
        ("-file nothing x", "\"nothing\""),
        ("-file options -file options x", "twice"),
        ("-configfile nothing", "cannot read the file \"nothing\" that -configfile names"),
        ("-configfile bad", "\"bad\", line 2: option -n is \"x\""),
        ("-configfile quote", "\"quote\", line 1"),
        ("-configfile nested", "another one"),
        ("-configfile empty", "no program"),
        ("-n 2 -configfile two", "\"-n\" stands beside"),
        ("-configfile two a", "\"a\" stands beside"),
        ("a : -configfile two", "\"a\" stands beside"),
    ] {
        let error = parse_words(&line.split_whitespace().collect::<Vec<_>>()).expect_err(line).to_string();
        assert!(error.contains(text) && !error.contains('\n'), "{line}: {error}");
    }
    assert!(parse_words(&[""]).unwrap_err().to_string().contains("no program"));
}

proptest! {
    #[test]
    fn any_command_line_is_understood_or_refused_in_one_line(
        words in prop::collection::vec(prop_oneof![Just("-n".to_owned()), Just("-np".to_owned()), Just("--".to_owned()),
            Just(":".to_owned()), Just("-configfile".to_owned()), Just("two".to_owned()), Just("-env".to_owned()),
            Just("-file".to_owned()), Just("options".to_owned()), "[0-9]{1,6}", "-.*", ".*"], 0..8)
    ) {
        match parse(words.iter().map(OsString::from), &read) {
            Ok(Command::Run(run)) => {
                prop_assert!(!run.groups.is_empty());
                for group in &run.groups {
                    prop_assert!(!group.program.is_empty());
                    prop_assert!(group.processes.is_none_or(|n| (1..=MAX_RANKS).contains(&n)));
                }
                if !words.iter().any(|word| word.contains("file")) {
                    let group = run.groups.last().unwrap();
                    let tail: Vec<OsString> = words[words.len() - group.arguments.len()..].iter().map(Into::into).collect();
                    prop_assert_eq!(&tail, &group.arguments, "the program's arguments are passed on untouched");
                }
            }
            Ok(_) => {}
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_fine_too(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        use std::os::unix::ffi::OsStringExt;
        let word = OsString::from_vec(bytes);
        let _ = parse([word.clone()], &read);
        let _ = parse(["-wdir".into(), word.clone(), "-env".into(), word.clone(), word], &read);
    }
}

#[test]
fn the_time_of_a_hang_report_stands_behind_its_sign_only() {
    let of = |line: &str| parse_line(line).options.hang_report;
    assert_eq!(of("--hang-report 3"), Some(Duration::from_secs(60)));
    assert_eq!(of("--hang-report=0.5 a"), Some(Duration::from_millis(500)));
    assert_eq!(of("a"), None);
}

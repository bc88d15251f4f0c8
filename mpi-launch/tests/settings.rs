//! Values of control variables on their way to the ranks: a file, the environment, `--cvar`; refused values and their
//! messages.
#![allow(clippy::unwrap_used)] // a test that cannot continue panics

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Job, mpiexec, run};

/// A folder of one test, removed after it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("mpiexec-settings-{}-{test}", std::process::id())))
    }

    /// A file in it, as text: its path.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_file_is_read_once_and_its_lines_are_handed_on() {
    let folder = Folder::new("once");
    let path = folder.file("good", "# twice\np2p_eager_limit = 1k\nplug_in = 7 # later\n");
    let show = ["sh", "-c", "echo $FERRUM_SETTINGS; echo \"$FERRUM_SETTINGS_READ\""];
    let due = format!("{0}\n{0}\n2 p2p_eager_limit=1k\n3 plug_in=7\n", path);
    let option = run(&[&["--settings", &path][..], &show].concat());
    assert_eq!((&*option.stdout, &*option.stderr), (&*due, ""));
    let variable = Job::start(mpiexec().env("FERRUM_SETTINGS", &path).args(show)).finish();
    assert_eq!(variable.stdout, due);
    let none = Job::start(mpiexec().env("FERRUM_SETTINGS", "").env("FERRUM_SETTINGS_READ", "old").args(show)).finish();
    assert_eq!(none.stdout, "\n\n");
    // A program with a file of its own reads it itself.
    let own = run(&[&["--settings", &path, "-env", "FERRUM_SETTINGS", "/mine"][..], &show].concat());
    assert_eq!(own.stdout, "/mine\n\n");
}

#[test]
fn the_default_file_is_found_and_need_not_be_there() {
    let folder = Folder::new("default");
    folder.file("none", "");
    let show = ["sh", "-c", "echo \"$FERRUM_SETTINGS_READ\""];
    let in_home = || Job::start(mpiexec().env_remove("XDG_CONFIG_HOME").env("HOME", &folder.0).args(show)).finish();
    assert_eq!(in_home().stdout, "\n");
    let path = folder.file(".config/ferrum-mpi/settings", "coll_shape = tree\n");
    assert_eq!(in_home().stdout, format!("{}\n1 coll_shape=tree\n", path));
}

#[test]
fn faults_are_reported_once_before_anything_starts() {
    let stderr_of = |arguments: &[&str]| {
        let done = run(&[arguments, &["-n", "3", "echo", "started"]].concat());
        assert_eq!((done.code, &*done.stdout, done.stderr.lines().count()), (Some(2), "", 1), "{}", done.stderr);
        done.stderr
    };
    let folder = Folder::new("wrong");
    let bad = folder.file("bad", "\np2p_wait_sleep = perhaps\n");
    let due = format!("mpiexec: {bad}, line 2: p2p_wait_sleep is \"perhaps\", but it takes one of off, on\n");
    assert_eq!(stderr_of(&["--settings", &bad]), due);
    let form = folder.file("form", "p2p_wait_sleep off\n");
    let due = format!("mpiexec: {form}, line 1: \"p2p_wait_sleep off\" is not of the form NAME = VALUE\n");
    assert_eq!(stderr_of(&["--settings", &form]), due);
    assert!(
        stderr_of(&["--settings", "/nonexistent/s"])
            .contains("settings file /nonexistent/s cannot be read: No such file")
    );
    assert!(stderr_of(&["--settings", "/"]).contains("it is no plain file"));
    let missing = "mpiexec: option --settings is \"-n\", but has to be the name of a file (one that begins with - is";
    assert!(run(&["--settings", "-n", "1", "true"]).stderr.starts_with(missing));
    assert!(stderr_of(&["-env", "FERRUM_STATS_FILE", "x"]).contains("write --cvar stats_file=x, or -genv"));
    assert!(
        stderr_of(&["--cvar", "coll_shape=round"])
            .contains("--cvar coll_shape is \"round\", but it takes one of auto,")
    );
    let misspelt = stderr_of(&["--cvar", "coll_shap=flat", "--error-format", "json"]);
    assert!(
        misspelt.starts_with("{\"source\":\"mpiexec\",\"kind\":\"refused\"")
            && misspelt.contains("did you mean coll_shape?")
    );
    // The ranks check the environment, `mpiexec` does not.
    assert_eq!(Job::start(mpiexec().env("FERRUM_P2P_EAGER_LIMIT", "-1").args(["true"])).finish().code, Some(0));
}

#[test]
fn later_sources_win() {
    let folder = Folder::new("later");
    let path = folder.file("ring", "fabric_ring_bytes = 999M\n");
    let code = |name: &str, value: &str, arguments: &[&str]| {
        let words = [&["--settings", &path][..], arguments, &["true"]].concat();
        Job::start(mpiexec().env(name, value).args(words)).finish().code
    };
    // Values that do not count are not checked.
    assert_eq!(code("A", "", &[]), Some(2));
    assert_eq!(code("FERRUM_FABRIC_RING_BYTES", "32k", &[]), Some(0));
    assert_eq!(code("FERRUM_FABRIC_RING_BYTES", "998M", &["--cvar", "fabric_ring_bytes=32k"]), Some(0));
    assert_eq!(code("FERRUM_FABRIC_RING_BYTES", "32k", &["--cvar", "fabric_ring_bytes=998M"]), Some(2));
}

#[test]
fn all_faults_are_reported_in_the_order_of_lines_and_words() {
    let folder = Folder::new("all");
    let bad = folder
        .file("bad", "win_direct = 7\nwait\ncoll_shape = round\nx = 1\nx = 2\nerror_color = red\nwin_direkt = on\n");
    let mistakes = ["--cvar", "p2p_wait_sleep=5", "--cvar", "coll_chek=on", "--cvar", "fabric_single_copy=x"];
    let words = [&["--settings", &bad][..], &mistakes, &["echo", "started"]].concat();
    let due = [
        format!("{bad}, line 1: win_direct is \"7\", but it takes one of off, on"),
        format!("{bad}, line 2: \"wait\" is not"),
        format!("{bad}, line 3: coll_shape is \"round\", but"),
        format!("{bad}, line 5: x is \"2\", but line 4 sets it already"),
        format!("{bad}, line 6: error_color is \"red\", but"),
        format!(
            "{bad}, line 7: win_direkt is set to \"on\", but no such variable exists so far; did you mean win_direct?"
        ),
        "--cvar p2p_wait_sleep is \"5\", but".to_owned(),
        "--cvar coll_chek is set to \"on\", but no such variable exists so far; did you mean coll_check?".to_owned(),
        "--cvar fabric_single_copy is \"x\", but".to_owned(),
    ];
    let done = run(&words);
    assert_eq!((done.code, &*done.stdout, done.stderr.lines().count()), (Some(2), "", due.len()), "{}", done.stderr);
    for (line, due) in done.stderr.lines().zip(&due) {
        assert!(line.strip_prefix("mpiexec: ").is_some_and(|line| line.starts_with(due)), "{line}: {due}");
    }
    let json = run(&[&["--error-format=json"], &words[..]].concat()).stderr;
    assert_eq!(json.lines().filter(|line| line.starts_with("{\"source\":\"mpiexec\",\"kind\":\"refused\"")).count(), 9);
}

#[test]
fn names_that_only_the_environment_sets_are_refused_elsewhere() {
    let folder = Folder::new("reserved");
    let file = folder.file("file", "pmix_library = x\n");
    let cases: [(&[&str], String); 3] = [
        (
            &["--cvar", "settings=s1"],
            "mpiexec: --cvar settings is \"s1\", but no variable has this name; only the".into(),
        ),
        (&["--cvar", "launcher_timeout=9"], "mpiexec: --cvar launcher_timeout is \"9\", but no variable has".into()),
        (
            &["--settings", &file],
            format!("mpiexec: {file}, line 1: pmix_library is \"x\", but no variable has this name;"),
        ),
    ];
    for (words, due) in cases {
        let done = run(&[words, &["echo", "started"]].concat());
        assert_eq!((done.code, &*done.stdout), (Some(2), ""), "{}", done.stderr);
        assert!(done.stderr.starts_with(&due) && done.stderr.lines().count() == 1, "{}", done.stderr);
    }
}

#[test]
fn mistakes_of_form_do_not_hide_those_of_values() {
    let done =
        run(&["--cvar", "p2p_eager_limit=x", "--cvar", "coll_check=perhaps", "--cvar", "foo", "echo", "started"]);
    let due = ["option --cvar is \"foo\", but", "--cvar p2p_eager_limit is \"x\"", "--cvar coll_check is \"perhaps\""];
    assert_eq!((done.code, &*done.stdout, done.stderr.lines().count()), (Some(2), "", 3), "{}", done.stderr);
    assert!(due.iter().all(|due| done.stderr.contains(due)), "{}", done.stderr);
}

#[test]
fn refusals_have_the_form_that_any_source_selects() {
    let folder = Folder::new("form");
    let (json, text) = (folder.file("json", "error_format = json\n"), folder.file("text", "error_format = text\n"));
    let home = Folder::new("form-home");
    home.file("ferrum-mpi/settings", "error_format = json\n");
    type Form<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], bool);
    let forms: [Form<'_>; 10] = [
        (&[], &[], false),
        (&["--error-format", "json"], &[], true),
        (&["-error-format=json"], &[("FERRUM_ERROR_FORMAT", "text")], true),
        (&["--cvar", "error_format=json"], &[], true),
        (&["--cvar=ERROR_FORMAT=text"], &[("FERRUM_ERROR_FORMAT", "json")], false),
        (&["--settings", &json], &[], true),
        (&["--settings", &text], &[("FERRUM_SETTINGS", &json)], false),
        (&[], &[("FERRUM_ERROR_FORMAT", " JSON ")], true),
        (&["-genv", "FERRUM_ERROR_FORMAT", "json"], &[], true),
        (&[], &[("FERRUM_SETTINGS", &json)], true),
    ];
    // Each kind of refusal: of the words, of a value, of the job, of its start; the mistake behind the form and before
    // it.
    let mistakes: [&[&str]; 5] = [
        &["--tag-ouput", "true"],
        &["-n", "0", "true"],
        &["--cvar", "coll_shap=flat", "true"],
        &["-n", "2"],
        &["/none"],
    ];
    let is_json = |words: &[&str], variables: &[(&str, &str)]| {
        let done = Job::start(mpiexec().envs(variables.iter().copied()).args(words)).finish();
        assert_eq!((&*done.stdout, done.stderr.lines().count()), ("", 1), "{words:?}: {}", done.stderr);
        done.stderr.starts_with("{\"source\":\"mpiexec\",\"kind\":\"refused\",\"exit_code\":")
    };
    for (form, variables, due) in forms {
        for mistake in mistakes {
            assert_eq!(is_json(&[form, mistake].concat(), variables), due, "{form:?} {mistake:?}");
        }
        assert_eq!(is_json(&[&["--tag-ouput"], form, &["true"]].concat(), variables), due, "{form:?}");
        // Words after the program belong to the program.
        let words = [form, &["--tag-ouput", "true", "--error-format", if due { "text" } else { "json" }]].concat();
        assert_eq!(is_json(&words, variables), due, "{form:?}");
    }
    assert!(is_json(&["--tag-ouput", "true"], &[("XDG_CONFIG_HOME", home.0.to_str().unwrap())]));
    assert!(is_json(&["--tag-ouput", "true", ":", "--error-format", "json", "true"], &[]));
}

#[test]
fn the_variables_are_listed() {
    let done = run(&["--help-cvars"]);
    assert!(done.code == Some(0) && done.stdout.contains("\n  p2p_eager_limit = 16384\n"), "{}", done.stdout);
}

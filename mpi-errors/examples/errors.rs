//! Errors outside of MPI: an error's sentence, its code, an error handler, and the report of a fatal error.
//!
//! Run it with `cargo run -p mpi-errors --example errors`.

use mpi_core::abi;
use mpi_errors::{
    Detail, Errhandler, Errhandlers, Error, ErrorCodes, FatalReport, HandlerKind, ReportFormat, Result, fatal_report,
};

fn choose_process(dest: i32, size: i32) -> Result<i32> {
    if (0..size).contains(&dest) {
        return Ok(dest);
    }
    Err(Error::new(abi::MPI_ERR_RANK, format!("there are {size} processes")).arg("dest", &dest).call("choose_process"))
}

fn main() {
    let codes = ErrorCodes::new();
    let error = choose_process(9, 4).expect_err("9 is no rank among 4");
    let code = codes.code_for(&error);
    println!("code   {code}");
    println!("class  {:?}", codes.class_of(code));
    println!("text   {}", codes.string_of(code).expect("the code was just given out"));

    let mut handlers = Errhandlers::new();
    let mine = handlers.create(HandlerKind::Comm, 0x1234).expect("the first handler fits");
    for (name, handle) in [("return", mpi_core::Handle(abi::MPI_ERRORS_RETURN)), ("mine", mine)] {
        match handlers.get(handle) {
            Ok(Errhandler::User { kind, function }) => println!("{name}: call {function:#x} for a {kind:?}"),
            Ok(handler) => println!("{name}: {handler:?}"),
            Err(error) => println!("{name}: {error}"),
        }
    }
    handlers.free(mine).expect("it is held once");
    println!("freed twice: {}", handlers.free(mine).expect_err("the second time is an error"));

    let report = FatalReport {
        rank: Some((2, 4)),
        host: "node7",
        pid: std::process::id(),
        error: &error,
        handler_of: None,
        handled_by: None,
        consequence: "Nothing: this is only an example.",
        detail: Detail::Normal,
        last_calls: &[],
    };
    print!("{}", fatal_report(&report, ReportFormat::Text { color: false }));
    print!("{}", fatal_report(&report, ReportFormat::Json));
}

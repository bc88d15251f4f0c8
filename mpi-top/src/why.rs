//! Why a job makes no progress, as text or JSON.
//!
//! Not here: the analysis (`mpi_observe::hang`).

use mpi_core::json::Object;
use mpi_observe::hang::{BETWEEN_LOOKS, HangView, RankProcess, analyse};
use mpi_observe::job_list::{self, id_text};

/// The report on a job now, from two looks: a job that makes progress shows calls that end soon.
pub fn print(job: Option<&str>, json: bool) -> Result<String, String> {
    let found = job_list::find(job)?;
    let view = found.job.view();
    let look = || HangView::capture(view, &|_| RankProcess::Recorded);
    let earlier = look();
    std::thread::sleep(BETWEEN_LOOKS);
    let report = analyse(&look().since(&earlier));
    Ok(match json {
        true => {
            let object = Object::new().text("source", "mpitop").text("kind", "why").text("job", &id_text(view.id()));
            report.fields(object).end() + "\n"
        }
        false => report.lines().join("\n") + "\n",
    })
}

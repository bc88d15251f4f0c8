use super::{Context, Report};
use crate::Result;
pub fn suite(_context: &Context, report: &mut Report) -> Result<()> {
    report.skip("all", "being written");
    Ok(())
}

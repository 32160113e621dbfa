import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
TOLERANCE_SECONDS = 300


def is_genuine(header: str, raw_body: bytes, secret: bytes) -> bool:
    parts = [part.partition("=")[::2] for part in header.split(",")]
    timestamp = next((value for name, value in parts if name == "t"), "")
    if not (timestamp.isascii() and timestamp.isdigit()):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(secret, timestamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    signatures = [value for name, value in parts if name == "v1"]
    return any(hmac.compare_digest(value.encode(), expected.encode()) for value in signatures)


class Webhooks(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        genuine = is_genuine(self.headers.get("X-Service-Signature", ""), raw_body, SECRET)
        if genuine:
            event = json.loads(raw_body)
            print(event["event"], event.get("id"), flush=True)
        self.send_response(200 if genuine else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Webhooks).serve_forever()

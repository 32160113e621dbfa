"""A shop with one product: it creates a payment, redirects to the checkout page, and ships once."""

import hashlib
import hmac
import json
import os
import re
import threading
import time
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LUNAS_URL = os.environ["LUNAS_URL"]
LUNAS_KEY = os.environ["LUNAS_KEY"]
WEBHOOK_SECRET = os.environ["WEBHOOK_SECRET"].encode()
PRICE_RUPIAH = 50_000
TOLERANCE_SECONDS = 300
ATTEMPTS = 4

# Your database: by order id, the status of the payment and how often it was shipped.
orders = {}
lock = threading.Lock()


def create_payment(order_id: str) -> str:
    """Returns the address of the checkout page. The idempotency key names the attempt, so a repeat is safe."""
    request = urllib.request.Request(
        f"{LUNAS_URL}/payments",
        json.dumps({"amount": PRICE_RUPIAH, "merchant_reference_id": order_id}).encode(),
        {
            "Authorization": f"Bearer {LUNAS_KEY}",
            "Content-Type": "application/json",
            "Idempotency-Key": f"{order_id}-1",
        },
    )
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=15) as response:
                return re.search(r'<([^>]+)>; rel="payment"', response.headers["Link"]).group(1)
        except urllib.error.HTTPError as error:
            if attempt == ATTEMPTS or (error.code < 500 and error.code != 429):
                raise
            time.sleep(int(error.headers.get("Retry-After", 2**attempt)))
        except (urllib.error.URLError, TimeoutError):
            if attempt == ATTEMPTS:
                raise
            time.sleep(2**attempt)


def is_genuine(header: str, raw_body: bytes) -> bool:
    parts = [part.partition("=")[::2] for part in header.split(",")]
    timestamp = next((value for name, value in parts if name == "t"), "")
    if not (timestamp.isascii() and timestamp.isdigit()):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(WEBHOOK_SECRET, timestamp.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    signatures = [value for name, value in parts if name == "v1"]
    return any(hmac.compare_digest(value.encode(), expected.encode()) for value in signatures)


def record(event: dict) -> None:
    """In one transaction of your database. A webhook can arrive twice, and `settled` can overtake `paid`."""
    with lock:
        order = orders.get(event["merchant_reference_id"])
        if order is None or event["updated_at"] < order["updatedAt"]:
            return
        order["status"] = event["status"]
        order["updatedAt"] = event["updated_at"]
        if event["status"] in ("paid", "settled") and order["shipped"] == 0:
            order["shipped"] += 1


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/":
            page = '<form method="post" action="/orders"><button>Buy coffee for Rp 50.000</button></form>'
            return self.respond(200, page.encode(), {"Content-Type": "text/html"})
        order = orders.get(self.path.removeprefix("/orders/"))
        if order is None:
            return self.respond(404)
        self.respond(200, json.dumps(order).encode(), {"Content-Type": "application/json"})

    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/orders":
            order_id = f"ORDER-{uuid.uuid4()}"
            orders[order_id] = {"status": "new", "updatedAt": "", "shipped": 0}
            return self.respond(303, headers={"Location": create_payment(order_id)})
        if self.path != "/webhooks":
            return self.respond(404)
        if not is_genuine(self.headers.get("X-Service-Signature", ""), raw_body):
            return self.respond(401)
        event = json.loads(raw_body)
        if event["event"] != "ping":
            record(event)
        self.respond(200)

    def respond(self, status: int, body: bytes = b"", headers: dict = {}):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "4000"))), Shop).serve_forever()

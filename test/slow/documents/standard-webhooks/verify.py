# Input and output: see verify.mjs.
import base64
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def is_genuine(secret: str, body: bytes, headers: dict) -> bool:
    try:
        Webhook(secret).verify(body, headers)
        return True
    except WebhookVerificationError:
        return False


for line in sys.stdin.read().strip().split("\n"):
    secret, delivery_id, timestamp, signature, body = line.split("\t")
    headers = {"webhook-id": delivery_id, "webhook-timestamp": timestamp, "webhook-signature": signature}
    print("genuine" if is_genuine(secret, base64.b64decode(body), headers) else "forged")

import { ERROR_REASONS } from '../../domain/errors';

const REASONS = Object.entries(ERROR_REASONS)
  .map(([reason, { code, meaning }]) => `| \`${code}\` | \`${reason}\` | ${meaning} |`)
  .join('\n');

/** The first page of the documentation, in Markdown. */
export const INTRODUCTION = `Take QRIS payments: create a transaction, show its QR, and deliver once it is \`paid\`.
A transaction and a payment are the same object.

## How a payment flows

1. Your server creates a transaction with \`POST /payments\` and shows the QR (\`qris_image_url\`, or draw
   \`qris_payload\` yourself). It can be paid until \`expires_at\`, with any QRIS app.
2. The webhook \`payment.paid\` reports that the customer has paid. Without webhooks, poll \`GET /payments/:id\`, with
   delays between the requests.
3. Deliver once for each transaction \`id\` after \`paid\`.

All amounts are whole rupiah, all times ISO 8601 in UTC. Absent values are \`null\`. New fields may be added to
responses, so ignore fields that you do not know.

## Keys

Every request carries \`Authorization: Bearer <secret key>\`. Secret keys stay on your servers, never in a browser or an
app. To rotate, activate the new key, then revoke the old one.

A key may be restricted to addresses or networks, may expire, and may have scopes: \`read\`, \`create\`, \`cancel\`,
\`refund\` and \`customers\` (for \`?expand=customer\`). A key without scopes has all of them. A request outside the
key's addresses is rejected with \`api_key_ip_not_allowed\`, one outside its scopes with \`scope_not_allowed\`, and an
expired key with \`invalid_api_key\`.

## Errors

A failure has the body \`{ "error": { "code", "message" } }\`. Decide by \`code\`; \`message\` is for humans. The
order of the checks is: key, address, merchant, scope, rate limit, body, fields. If a code stands for several mistakes,
the header \`X-Error-Reason\` has the one that was made:

| Code | Reason | Meaning |
| --- | --- | --- |
${REASONS}

| Response | Repeat the request? |
| --- | --- |
| none in time | yes, the same, with its idempotency key |
| 500 | yes, after a while, with its idempotency key |
| 429 | yes, after the seconds in \`Retry-After\` |
| 400, 401, 403, 404 | no: correct the request, the key or the address first |

Each key has a limit of requests per minute; the headers \`RateLimit-Limit\`, \`RateLimit-Remaining\` and
\`RateLimit-Reset\` report its state. A creation is also rejected with \`rate_limited\` if too many are in flight; then
nothing is created. Include \`X-Request-Id\` when you contact support.
It is your own if you send one: 1 to 128 visible ASCII characters, no personal data.

## Ignored input

A field or parameter that is not in this document is ignored. The headers \`X-Ignored-Fields\` and
\`X-Ignored-Parameters\` have such names, so look for them while you integrate: at most ten names, and \`...\` for all
others.

## Webhooks

Webhooks are sent to the addresses that you have registered. Respond with 2xx in less than 10 s, before any slow work.
Other responses are retried for three days, with growing delays.

**Verify** before you read: \`v1\` in \`X-Service-Signature\` is the HMAC-SHA256, in hex, of \`<t>.<raw body>\` under
the whole secret of your endpoint (\`whsec_…\`). Compare it in constant time, accept any of several \`v1\`, and reject
a \`t\` that is more than five minutes off. The headers \`webhook-id\`, \`webhook-timestamp\` and
\`webhook-signature\` follow [Standard Webhooks](https://www.standardwebhooks.com): instead you can verify these with
one of its libraries. They sign the id of the delivery too.

**The same event can arrive twice, and events can arrive out of order**: ignore an event with an older \`updated_at\`
than the last one that you processed. \`payment.paid\` is sent again after a cancelled refund, so deliver once for each
\`id\`.`;

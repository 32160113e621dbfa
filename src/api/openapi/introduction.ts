/** The first page of the documentation, in Markdown. */
export const INTRODUCTION = `Take QRIS payments: create a transaction, show its QR, and deliver once it is \`paid\`.

## The way of a payment

1. Your server creates a transaction with \`POST /payments\` and shows the QR (\`qris_image_url\`, or draw
   \`qris_payload\` yourself). It can be paid until \`expires_at\`, with any QRIS app.
2. A webhook \`payment.paid\` tells that the customer has paid. Without webhooks, ask \`GET /payments/:id\`, with delays
   between the requests.
3. Deliver once for each transaction \`id\` after \`paid\`.

All amounts are whole rupiah, all times ISO 8601 in UTC. Values that are not there yet are \`null\`. Fields are only ever
added to answers, so ignore those that you do not know.

## Keys

Every request carries \`Authorization: Bearer <secret key>\`. Secret keys stay on your servers, never in a browser or an
app. A key may be bound to addresses or networks. To rotate, activate the new key, then revoke the old one.

## Errors

A failure has the body \`{ "error": { "code", "message" } }\`. Decide by \`code\`; \`message\` is for people. Checks come in
this order: key, address, merchant, rate limit, body, fields.

| Answer | Repeat the request? |
| --- | --- |
| none in time | yes, the same, with its idempotency key |
| 500 | yes, after a while, with its idempotency key |
| 429 | yes, after the seconds in \`Retry-After\` |
| 400, 401, 403, 404 | no: mend the request, the key or the address first |

Each key has a number of requests a minute; the headers \`RateLimit-Limit\`, \`RateLimit-Remaining\` and
\`RateLimit-Reset\` tell where it stands. \`X-Request-Id\` names a request when you ask us about it.

## Webhooks

Sent to the addresses that you have registered. Answer with 2xx within 10 s, before you do
anything that takes long. Other answers are tried again for three days, ever less often.

**Verify** before you read: \`v1\` in \`X-Service-Signature\` is the HMAC-SHA256, in hex, of \`<t>.<raw body>\` under the
whole secret of your endpoint (\`whsec_…\`). Compare it in constant time, accept any of several \`v1\`, and refuse a \`t\`
that is more than five minutes off.

**The same event can come twice, and events can overtake each other**: drop what has an older \`updated_at\` than you
know. \`payment.paid\` comes again after a cancelled refund, so deliver once for each \`id\`.`;

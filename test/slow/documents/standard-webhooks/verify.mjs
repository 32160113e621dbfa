// Each line of the input is a delivery: secret, id, timestamp, signature and the body in base64. For each it prints
// `genuine` or `forged`, as the published library decides.
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';

for (const line of readFileSync(0, 'utf8').trim().split('\n')) {
  const [secret, id, timestamp, signature, body] = line.split('\t');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  console.log(isGenuine(secret, Buffer.from(body, 'base64').toString(), headers) ? 'genuine' : 'forged');
}

function isGenuine(secret, body, headers) {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

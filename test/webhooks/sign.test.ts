import { execFileSync } from 'node:child_process';
import { createHmac, webcrypto } from 'node:crypto';
import { signWebhook, standardWebhookHeaders } from '../../src/webhooks/sign';

const SECRET = 'whsec_4f9d8a7b6c5e4d3c2b1a';

/** Typical bodies, and some that detect another encoding or trimming. */
const BODIES = [
  '{"id":"0191","event":"payment.paid","merchant_reference_id":"PESANAN \\u00e9 é 支付 🙂"}',
  '{}',
  '{"a":"line\\nbreak"} \n',
  ' ',
] as const;

const PYTHON = `
import hashlib, hmac, os, sys
print(hmac.new(os.environ["KEY"].encode(), sys.stdin.buffer.read(), hashlib.sha256).hexdigest(), end="")`;

/** Independent implementations of HMAC-SHA256 in hex. */
const IMPLEMENTATIONS: Readonly<Record<string, (content: string, key: string) => Promise<string>>> = {
  'the Web Crypto API of Node.js': async (content, key) => {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const imported = await webcrypto.subtle.importKey('raw', Buffer.from(key), algorithm, false, ['sign']);
    return Buffer.from(await webcrypto.subtle.sign('HMAC', imported, Buffer.from(content))).toString('hex');
  },
  python3: async (content, key) =>
    execFileSync('python3', ['-c', PYTHON], { input: content, encoding: 'utf8', env: { ...process.env, KEY: key } }),
  "the shell's openssl": async (content, key) =>
    execFileSync('openssl', ['dgst', '-sha256', '-hmac', key], { input: content, encoding: 'utf8' })
      .trim()
      .replace(/^.*= */, ''),
};

describe('the signature of a webhook', () => {
  it.each(Object.entries(IMPLEMENTATIONS))(
    'the signature of a webhook is HMAC-SHA256 over time and body, as %s has it too',
    async (_name, hmac) => {
      for (const body of BODIES) {
        expect(signWebhook(body, [SECRET], 1_795_248_000)).toBe(
          `t=1795248000,v1=${await hmac(`1795248000.${body}`, SECRET)}`,
        );
      }
    },
  );

  it('the signature of a webhook has one value for each valid secret, newest first', async () => {
    const vector = (key: string) => createHmac('sha256', key).update('1.{}').digest('hex');
    expect(signWebhook('{}', ['whsec_new', 'whsec_old'], 1)).toBe(
      `t=1,v1=${vector('whsec_new')},v1=${vector('whsec_old')}`,
    );
  });

  it('equals a recorded value: existing receivers can still verify it', () => {
    expect(signWebhook('{}', [SECRET], 1)).toBe(
      't=1,v1=b3c8a7e54f4704ddccf86e757b89778eb872883ce06975ab13636f90746f5bea',
    );
  });
});

describe('the headers of Standard Webhooks', () => {
  const delivery = { deliveryId: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' };

  it('equal the vector of the published libraries', () => {
    expect(standardWebhookHeaders(delivery, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], 1_614_265_330)).toEqual({
      'webhook-id': delivery.deliveryId,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('sign the delivery id, which the header of the contract does not', () => {
    const signatureOf = (deliveryId: string) =>
      standardWebhookHeaders({ ...delivery, deliveryId }, [SECRET], 1)['webhook-signature'];
    expect(signatureOf('a')).not.toBe(signatureOf('b'));
  });

  it('the header webhook-signature has one value for each valid secret, newest first', () => {
    const secrets = ['whsec_bmV3', 'whsec_b2xk'];
    const each = secrets.map((secret) => standardWebhookHeaders(delivery, [secret], 1)['webhook-signature']);
    expect(standardWebhookHeaders(delivery, secrets, 1)['webhook-signature']).toBe(each.join(' '));
  });
});

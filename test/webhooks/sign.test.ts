import { execFileSync } from 'node:child_process';
import { signWebhook } from '../../src/webhooks/sign';

const body = '{"id":"0191","event":"payment.paid","merchant_reference_id":"PESANAN \\u00e9 é 支付"}';
const secret = 'whsec_4f9d8a7b6c5e4d3c2b1a';

/** The signature as the shell's openssl computes it: an implementation that is not ours. */
function opensslHmac(content: string, key: string): string {
  const output = execFileSync('openssl', ['dgst', '-sha256', '-hmac', key], { input: content, encoding: 'utf8' });
  return output.trim().replace(/^.*= */, '');
}

describe('the signature of a webhook', () => {
  it('is HMAC-SHA256 over time and body, as openssl computes it too', () => {
    expect(signWebhook(body, [secret], 1_795_248_000)).toBe(
      `t=1795248000,v1=${opensslHmac(`1795248000.${body}`, secret)}`,
    );
  });

  it('is given once for each secret that is valid', () => {
    const both = signWebhook(body, ['whsec_new', 'whsec_old'], 1);
    expect(both).toBe(`t=1,v1=${opensslHmac(`1.${body}`, 'whsec_new')},v1=${opensslHmac(`1.${body}`, 'whsec_old')}`);
  });
});

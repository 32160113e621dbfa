import { webhooks, WebhookVerificationError, type WebhookHeaders } from '../../../packages/node/src/index';
import { WEBHOOK_EVENT } from '../../../src/api/openapi/webhook-event';
import { signWebhook, standardWebhookHeaders } from '../../../src/webhooks/sign';

const KEY = Buffer.alloc(32, 0xfb);
const SECRET = `whsec_${KEY.toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const BODY = JSON.stringify({ ...WEBHOOK_EVENT, merchant_reference_id: 'PESANAN é 支付' });
const DELIVERY = { deliveryId: '01935b6c-9a10-7d2e-8f41-5a0c3c1f7e22', body: BODY };

const now = () => Math.floor(Date.now() / 1_000);
const contract = (secrets: readonly string[], atSeconds = now()) => ({
  'x-service-signature': signWebhook(BODY, secrets, atSeconds),
});
const standard = (secrets: readonly string[], atSeconds = now()) =>
  standardWebhookHeaders(DELIVERY, secrets, atSeconds);
const SCHEMES = { 'the header of the contract': contract, 'Standard Webhooks': standard } as const;

const verify = (headers: WebhookHeaders, body: string | Uint8Array = BODY) => webhooks.verify(body, headers, SECRET);

describe.each(Object.entries(SCHEMES))('a webhook that Lunas signed for %s', (_scheme, headersOf) => {
  it('a genuine webhook is verified, and its event is the result', () => {
    expect(verify(headersOf([SECRET]))).toEqual(JSON.parse(BODY));
  });

  it('a genuine webhook is verified as bytes, with the headers of fetch, and with names in upper case', () => {
    const headers = headersOf([SECRET]);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    for (const given of [new Headers(headers), upper]) {
      expect(verify(given, Buffer.from(BODY))).toEqual(JSON.parse(BODY));
      expect(verify(given, new Uint8Array(Buffer.from(BODY)))).toEqual(JSON.parse(BODY));
    }
  });

  it('a genuine webhook is verified with either secret of a rotation', () => {
    for (const secrets of [
      [SECRET, OTHER_SECRET],
      [OTHER_SECRET, SECRET],
    ]) {
      expect(verify(headersOf(secrets))).toEqual(JSON.parse(BODY));
    }
  });

  it('a webhook is rejected with another secret, another body, and without a signature', () => {
    expect(() => verify(headersOf([OTHER_SECRET]))).toThrow(WebhookVerificationError);
    expect(() => verify(headersOf([SECRET]), `${BODY} `)).toThrow(WebhookVerificationError);
    expect(() => verify({})).toThrow(WebhookVerificationError);
  });

  it('a webhook is rejected more than 300 seconds from now, unless the tolerance is larger', () => {
    for (const seconds of [-290, 290]) expect(verify(headersOf([SECRET], now() + seconds))).toBeDefined();
    for (const seconds of [-310, 310]) {
      const headers = headersOf([SECRET], now() + seconds);
      expect(() => verify(headers)).toThrow('300 s');
      expect(webhooks.verify(BODY, headers, SECRET, { toleranceSeconds: 400 })).toBeDefined();
    }
  });
});

describe('a forged webhook', () => {
  it.each([
    [{ 'webhook-id': 'another' }],
    [{ 'webhook-timestamp': String(now() - 100) }],
    [{ 'webhook-timestamp': '' }],
    [{ 'webhook-timestamp': 'NaN' }],
    [{ 'webhook-timestamp': '1e9' }],
    [{ 'webhook-signature': 'v1,' }],
    [{ 'webhook-signature': 'v1' }],
    [{ 'webhook-signature': 'v2,AAAA' }],
    [{ 'webhook-signature': `v1,${'A'.repeat(43)}=` }],
  ])('a forged webhook is rejected with %j', (changes) => {
    expect(() => verify({ ...standard([SECRET]), ...changes })).toThrow(WebhookVerificationError);
  });

  it.each(['', 't=', 'v1=', 't=,v1=', 't=nan,v1=00', '=,=,=', `t=${now()},v1=`, `t=${now()},v1=${'0'.repeat(63)}`])(
    'a forged webhook is rejected with X-Service-Signature %j',
    (header) => {
      expect(() => verify({ 'x-service-signature': header })).toThrow(WebhookVerificationError);
    },
  );

  it('a webhook is rejected if only the header without the delivery id is genuine', () => {
    const headers = { ...standard([OTHER_SECRET]), ...contract([SECRET]) };
    expect(() => verify(headers)).toThrow(WebhookVerificationError);
  });
});

it.each(['', 'whsec_', 'secret', 'sk_test_1'])('rejects the secret %j, which would be an empty key', (secret) => {
  expect(() => webhooks.verify(BODY, standard([SECRET]), secret)).toThrow(TypeError);
  expect(() => webhooks.sign(BODY, secret)).toThrow(TypeError);
});

describe('a mistake of the receiver is named', () => {
  /** `webhooks.verify` as JavaScript can call it. */
  const verifyInJavaScript = (...given: readonly unknown[]) => Reflect.apply(webhooks.verify, undefined, given);
  const headers = () => standard([SECRET]);

  it('a secret that is not set', () => {
    const message = 'The secret of the endpoint is undefined. Set the variable that has it (whsec_…).';
    expect(() => verifyInJavaScript(BODY, headers(), undefined)).toThrow(new TypeError(message));
    expect(() => Reflect.apply(webhooks.sign, undefined, [BODY])).toThrow(new TypeError(message));
  });

  it.each([JSON.parse(BODY), {}, undefined])('a body that is parsed, or was not read', (body) => {
    const verifyBody = () => verifyInJavaScript(body, headers(), SECRET);
    expect(verifyBody).toThrow(TypeError);
    expect(verifyBody).toThrow(/raw body.*express\.raw\(\{ type: 'application\/json' \}\)/);
  });

  it.each([undefined, null, contract([SECRET])['x-service-signature']])('headers that are %p', (given) => {
    const verifyHeaders = () => verifyInJavaScript(BODY, given, SECRET);
    expect(verifyHeaders).toThrow(TypeError);
    expect(verifyHeaders).toThrow('all headers of the request');
  });

  it('a request without a signature, which a stranger can send too', () => {
    const unsigned = () => verify({ 'content-type': 'application/json' });
    expect(unsigned).toThrow(WebhookVerificationError);
    expect(unsigned).toThrow('no signature');
  });

  it('an option of another name', () => {
    expect(() => verifyInJavaScript(BODY, headers(), SECRET, { tolerance: 9 })).toThrow(
      new TypeError('webhooks.verify has no option "tolerance". It has: toleranceSeconds.'),
    );
    expect(() => verifyInJavaScript(BODY, headers(), SECRET, 9)).toThrow(
      'The options of webhooks.verify are an object',
    );
    expect(() => Reflect.apply(webhooks.sign, undefined, [BODY, SECRET, { id: 'd1' }])).toThrow(
      'webhooks.sign has no option "id". It has: deliveryId, at.',
    );
  });
});

describe('webhooks.sign', () => {
  it('returns the headers that Lunas sends', () => {
    const at = new Date();
    const { deliveryId } = DELIVERY;
    const atSeconds = Math.floor(at.getTime() / 1_000);
    expect(webhooks.sign(BODY, SECRET, { deliveryId, at })).toEqual({
      'content-type': 'application/json',
      'x-service-event': 'payment.paid',
      'x-service-delivery': deliveryId,
      ...contract([SECRET], atSeconds),
      ...standard([SECRET], atSeconds),
    });
  });

  it('returns headers that webhooks.verify accepts, for text and bytes', () => {
    for (const body of [BODY, Buffer.from(BODY)]) expect(verify(webhooks.sign(body, SECRET), body)).toBeDefined();
  });
});

import { randomBytes, randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import type { Environment } from '../../../src/config';
import { DerivedKeys } from '../../../src/crypto/derived-keys';
import { PublicLinks } from '../../../src/crypto/public-links';
import { createSealer } from '../../../src/crypto/sealing';
import { replaceLogo } from '../../../src/db/merchants/merchant-logos';
import { changeMerchant } from '../../../src/services/merchants/merchants';
import { findSandboxCheckout } from '../../../src/web/checkout/get-sandbox-checkout';
import { asSuperuser } from '../../support/backdate';
import { collectLog } from '../../support/collect-log';
import { eventually } from '../../support/eventually';
import { createPage } from '../../support/payment-page';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const collected = collectLog();
let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { log: collected.log });
});
afterAll(() => service.close());

const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'set-cookie': null,
} as const;

function headersOf({ headers }: Response): Record<string, string | null> {
  return Object.fromEntries(Object.keys(SECURITY_HEADERS).map((name) => [name, headers.get(name)]));
}

const policyOf = ({ headers }: Response) => headers.get('content-security-policy') ?? '';

async function readPage(url: string, language = 'id'): Promise<string> {
  return (await fetch(url, { headers: { 'accept-language': language } })).text();
}

describe('GET /pay/:token', () => {
  it('the Link of a create, its replay and GET /payments/:id/qris have the same checkout page', async () => {
    const headers = { 'idempotency-key': 'link' };
    const created = await service.call('POST', '/payments', { amount: 50_000 }, headers);
    const replayed = await service.call('POST', '/payments', { amount: 50_000 }, headers);
    const { qris } = (await service.call('GET', `/payments/${created.body.payment.id}/qris`)).body;
    expect(created.headers.get('link')).toBe(`<${qris.checkout_url}>; rel="payment"`);
    expect([replayed.headers.get('link'), replayed.text]).toEqual([created.headers.get('link'), created.text]);
    expect(qris.checkout_url).toMatch(/\/pay\/[\w-]{43}$/);
  });

  it('shows amount, merchant, NMID, reference and the code, without anything inline', async () => {
    const page = await createPage(service);
    const response = await fetch(page.url);
    expect([response.status, headersOf(response)]).toEqual([200, SECURITY_HEADERS]);
    expect(policyOf(response)).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    const html = await response.text();
    for (const text of ['Rp\u00a050.000', 'NMID: ID', page.referenceId, 'role="img"']) expect(html).toContain(text);
    expect(html).not.toMatch(/<style|style=|\son\w+=|<script>/);
    expect(html).not.toContain(page.payload);
  });

  it('the checkout page lacks only the description if the details of the payment cannot be opened', async () => {
    const page = await createPage(service, { metadata: { description: 'Kopi susu' } });
    expect(await readPage(page.url)).toContain('Kopi susu');
    await asSuperuser(
      service.db,
      `update payment_details set sealed = 'v1.lost.key' where payment_id = '${page.paymentId}'`,
    );
    const html = await readPage(page.url);
    expect(html).toContain('role="img"');
    expect(html).not.toContain('Kopi susu');
    expect((await fetch(`${page.url}/qris.png`)).status).toBe(200);
    const message = 'details of a payment not opened; the checkout page has no description';
    expect(collected.lines(message)).toContainEqual(expect.objectContaining({ paymentId: page.paymentId }));
  });

  it.each([
    ['id', '', 'Bayar dengan QRIS'],
    ['en-GB,en;q=0.9,id;q=0.5', '', 'Pay with QRIS'],
    ['fr', '', 'Bayar dengan QRIS'],
    ['en', '?lang=id', 'Bayar dengan QRIS'],
    ['id', '?lang=en', 'Pay with QRIS'],
    ['en', '?lang=xx', 'Pay with QRIS'],
  ])('chooses the language: Accept-Language %s, query "%s"', async (accepted, query, title) => {
    const { url } = await createPage(service);
    expect(await readPage(url + query, accepted)).toContain(`<h1 class="task">${title}</h1>`);
  });

  it('404 with a page: an unknown token, a token of a QR image, and a changed one', async () => {
    const { url, paymentId } = await createPage(service);
    const { qris } = (await service.call('GET', `/payments/${paymentId}/qris`)).body;
    const imageToken = /qris\/([\w-]+)\.png/.exec(qris.image_url)?.[1] ?? '';
    const changed = `${url.slice(0, -2)}${url.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const unknown of [`${service.apiUrl}/pay/unknown`, `${service.apiUrl}/pay/${imageToken}`, changed]) {
      const response = await fetch(unknown, { headers: { 'accept-language': 'en' } });
      expect([response.status, headersOf(response)]).toEqual([404, SECURITY_HEADERS]);
      expect(policyOf(response)).toContain("frame-ancestors 'none'");
      expect(await response.text()).toContain('<h1>Page not found</h1>');
      for (const part of ['events', 'qris.png', 'receipt.png'])
        expect((await fetch(`${unknown}/${part}`)).status).toBe(404);
    }
  });

  it('500 with a page that asks not to pay again, while PostgreSQL is unavailable', async () => {
    const { url } = await createPage(service);
    const queries = jest.spyOn(Pool.prototype, 'query').mockImplementation(() => {
      throw new Error('no server');
    });
    const response = await fetch(url, { headers: { 'accept-language': 'en' } });
    queries.mockRestore();
    expect([response.status, headersOf(response)]).toEqual([500, SECURITY_HEADERS]);
    const page = await response.text();
    expect(page).toContain('If you have already paid, do not pay again');
    expect(page).toContain('<a class="button" href="?lang=en">Try again</a>');
    expect(await readPage(url, 'en')).toContain('Pay with QRIS');
  });

  it('the page of the acquirer leads to the checkout page by both references; not in production', async () => {
    const { url, referenceId } = await createPage(service);
    const order = await service.atProvider(referenceId);
    const transactionId = order?.transaction_id ?? '';
    const open = (transaction: string) =>
      fetch(`${service.apiUrl}/sandbox/checkout/${referenceId}/${transaction}`, { redirect: 'manual' });
    const found = await open(transactionId);
    expect([found.status, found.headers.get('location')]).toEqual([303, url]);
    expect((await open(randomUUID())).status).toBe(404);
    const keys = new DerivedKeys(service.db, createSealer(service.masterKey));
    const dependencies = { keylessDb: service.db, checkoutLinks: new PublicLinks(keys, 'checkout', service.apiUrl) };
    const findIn = (environment: Environment) =>
      findSandboxCheckout({ ...dependencies, environment }, { referenceId, transactionId });
    expect([await findIn('sandbox'), await findIn('production')]).toEqual([url, undefined]);
  });

  it('the token of a checkout page is no name of an image', async () => {
    const { url } = await createPage(service);
    expect((await fetch(url.replace('/pay/', '/qris/').concat('.png'))).status).toBe(404);
  });

  it('200 without a code after the end, with what happens to money that is paid late', async () => {
    const page = await createPage(service);
    await service.call('POST', `/payments/${page.paymentId}/cancel`);
    const response = await fetch(page.url, { headers: { 'accept-language': 'en' } });
    const html = await response.text();
    expect([response.status, headersOf(response)]).toEqual([200, SECURITY_HEADERS]);
    expect(html).toContain('<h1>Payment cancelled</h1>');
    expect(html).toContain('If you pay after that by mistake, the money is returned to you');
    expect(html).not.toMatch(/<figure|qris\.png/);
    expect((await fetch(`${page.url}/qris.png`)).status).toBe(404);
    expect((await fetch(`${page.url}/receipt.png`)).status).toBe(404);
  });

  it('shows that money arrived late and was returned', async () => {
    const page = await createPage(service);
    await service.call('POST', `/payments/${page.paymentId}/cancel`);
    await service.pay(page.referenceId);
    const refunded = 'The money that arrived after the end was returned to you.';
    const html = await eventually(
      () => readPage(page.url, 'en'),
      (html) => html.includes(refunded),
    );
    expect(html).toContain('<h1>Payment cancelled</h1>');
  });

  it('the checkout page has the return link of the merchant and frames only in its origins', async () => {
    const before = await createPage(service, { merchant_reference_id: 'ORDER 1&2' });
    expect(policyOf(await fetch(before.url))).toContain("frame-ancestors 'none'");
    expect(await readPage(before.url)).not.toContain('Kembali ke toko');
    await changeMerchant(service.db, service.merchantId, {
      returnUrl: 'https://shop.example/orders?ref={merchant_reference_id}&from=pay',
      checkoutOrigins: ['https://shop.example', 'https://www.shop.example'],
    });
    const response = await fetch(before.url);
    expect(policyOf(response)).toContain('frame-ancestors https://shop.example https://www.shop.example');
    expect(await response.text()).toContain('href="https://shop.example/orders?ref=ORDER%201%262&amp;from=pay"');
    await changeMerchant(service.db, service.merchantId, { returnUrl: null, checkoutOrigins: [] });
    expect(policyOf(await fetch(before.url))).toContain("frame-ancestors 'none'");
    expect(await readPage(before.url)).not.toContain('Kembali ke toko');
  });

  it('the checkout page has the colour and the logo of its merchant, and without them what it has today', async () => {
    const { url, paymentId } = await createPage(service);
    // Its page has no countdown.
    await service.call('POST', `/payments/${paymentId}/cancel`);
    const plain = await readPage(url);
    await service.db.query("update merchants set accent = '#ff6600' where id = $1", [service.merchantId]);
    const png = randomBytes(1_000);
    const logo = { png, width: 120, height: 40 };
    await replaceLogo(service.db, service.merchantId, logo);
    const branded = await readPage(url);
    const address = /<img src="(\/checkout\/logos\/[\da-f]{64}\.png)" width="120" height="40" alt=""/.exec(
      branded,
    )?.[1];
    const [, style, hash] =
      /<link rel="stylesheet" href="(\/checkout\/accent-([\da-f]{16})-ff6600\.css)"\/>/.exec(branded) ?? [];
    const readFile = async (file: string | undefined) => {
      const response = await fetch(`${service.apiUrl}${file}`);
      const { status, headers } = response;
      const caching = 'public, max-age=31536000, immutable';
      expect([status, headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
        200,
        caching,
        'nosniff',
      ]);
      return { type: headers.get('content-type'), body: Buffer.from(await response.arrayBuffer()) };
    };
    const [image, colours] = [await readFile(address), await readFile(style)];
    expect([image.type, image.body.equals(png)]).toEqual(['image/png', true]);
    expect(colours.type).toBe('text/css; charset=utf-8');
    expect(colours.body.toString()).toMatch(/^:root\{--accent:#ff6600;[^}]+\}$/);
    for (const unknown of [
      `accent-${hash}-ff660.css`,
      `accent-${hash}-FF6600.css`,
      `accent-${hash}-red.css`,
      'accent-ff6600.css',
      `accent-${'0'.repeat(16)}-ff6600.css`, // shades of another version
      `logos/${'0'.repeat(64)}.png`,
      'logos/x.png',
    ]) {
      expect([unknown, (await fetch(`${service.apiUrl}/checkout/${unknown}`)).status]).toEqual([unknown, 404]);
    }
    await service.db.query('delete from merchant_logos');
    await service.db.query('update merchants set accent = null');
    expect(await readPage(url)).toBe(plain);
    expect((await fetch(`${service.apiUrl}${address}`)).status).toBe(404);
  });

  it('serves fonts, style, script and icon under names with a hash, for caches', async () => {
    const { url } = await createPage(service);
    const addresses = [...(await readPage(url)).matchAll(/"(\/checkout\/[^"]+)"/g)].map(([, address = '']) => address);
    expect(addresses.map((address) => address.replace(/-[\da-f]{16}\./, '.'))).toEqual([
      '/checkout/icon.svg',
      ...[400, 600, 700].map((weight) => `/checkout/plus-jakarta-sans-${weight}.woff2`),
      '/checkout/checkout.css',
      '/checkout/checkout.js',
    ]);
    for (const address of addresses) {
      const { status, headers } = await fetch(service.apiUrl + address);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    }
    expect((await fetch(`${service.apiUrl}/checkout/checkout.css`)).status).toBe(404);
  });
});

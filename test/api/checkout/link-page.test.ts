import { randomUUID } from 'node:crypto';
import { v5 as uuidV5 } from 'uuid';
import { DerivedKeys } from '../../../src/crypto/derived-keys';
import { PublicLinks } from '../../../src/crypto/public-links';
import { createSealer } from '../../../src/crypto/sealing';
import { openLinkNumber } from '../../../src/db/links/open-link';
import { LINK_LIMITS } from '../../../src/domain/payment-link';
import { eventually } from '../../support/eventually';
import { createTestLink, paymentsOfLink, pressButton, type TestLink } from '../../support/payment-links';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

const textOf = async (url: string) => (await fetch(`${url}?lang=en`)).text();

const paymentsOf = (link: TestLink) => paymentsOfLink(service.db, link);

/** The customer pays the newest payment of the link. */
async function pay(link: TestLink): Promise<void> {
  const newest = (await paymentsOf(link)).at(-1);
  await service.pay(newest?.referenceId ?? '');
  await eventually(
    () => paymentsOf(link),
    (payments) => payments.at(-1)?.status === 'paid',
  );
}

describe('GET /link/:token', () => {
  it('shows shop, title, amount and one button, and creates nothing', async () => {
    const link = await createTestLink(service);
    const response = await fetch(`${link.url}?lang=en`);
    const html = await response.text();
    expect(response.status).toBe(200);
    for (const text of ['Invoice 1042', 'Rp\u00a050.000', 'Pay by QRIS', 'name="attempt"'])
      expect(html).toContain(text);
    expect(html).not.toMatch(/<style|style=|\son\w+=|<script>/);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(await paymentsOf(link)).toEqual([]);
  });

  it('404 with a page: an unknown token, a changed one, and that of a checkout page with the same id', async () => {
    const { id, url } = await createTestLink(service);
    const { rows } = await service.db.query<{ fingerprint: string }>(
      'select fingerprint from payment_links where id = $1',
      [id],
    );
    const keys = new DerivedKeys(service.db, createSealer(service.masterKey));
    const fingerprint = rows[0]?.fingerprint ?? '';
    const [link, checkout] = await Promise.all(
      (['link', 'checkout'] as const).map((kind) =>
        new PublicLinks(keys, kind, service.apiUrl).urlOf({ id, fingerprint }),
      ),
    );
    expect(link).toBe(url);
    const changed = `${url.slice(0, -2)}${url.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const unknown of [`${service.apiUrl}/link/unknown`, changed, checkout?.replace('/pay/', '/link/') ?? '']) {
      const response = await fetch(`${unknown}?lang=en`);
      expect([response.status, await response.text()]).toEqual([
        404,
        expect.stringContaining('This link does not exist.'),
      ]);
      expect((await pressButton({ url: unknown })).status).toBe(404);
    }
    expect((await fetch(url.replace('/link/', '/pay/'))).status).toBe(404);
    expect((await fetch(url.replace('/link/', '/qris/').concat('.png'))).status).toBe(404);
  });

  it('each opening has another attempt', async () => {
    const { url } = await createTestLink(service);
    const attempts = [await textOf(url), await textOf(url)].map(
      (html) => /name="attempt" value="([^"]+)/.exec(html)?.[1],
    );
    expect(new Set(attempts).size).toBe(2);
  });
});

describe('a once-link', () => {
  it('visitors at the same time get one payment, and the acquirer one order', async () => {
    const link = await createTestLink(service);
    const count = bySize({ small: 10, full: 200 });
    const responses = await Promise.all(Array.from({ length: count }, () => pressButton(link)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 303));
    const locations = new Set(responses.map(({ headers }) => headers.get('location')));
    expect(locations.size).toBe(1);
    const payments = await paymentsOf(link);
    expect(payments).toHaveLength(1);
    expect((await service.atProvider(payments[0]?.referenceId ?? ''))?.charge_calls).toBe(1);
    expect(await (await fetch([...locations][0] ?? '')).text()).toContain('role="img"');
  });

  it('a number without a payment is created under the same id by the next visitors', async () => {
    const link = await createTestLink(service);
    // What a process leaves that dies between the number and the creation.
    const paymentId = uuidV5('1', link.id);
    await openLinkNumber(service.db, { linkId: link.id, paymentId, number: 1, at: new Date() });
    const responses = await Promise.all([pressButton(link), pressButton(link), pressButton(link)]);
    expect(responses.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await paymentsOf(link)).map(({ id }) => id)).toEqual([paymentId]);
  });

  it('an ended payment is followed by the next one, and a paid one by none', async () => {
    const link = await createTestLink(service);
    await pressButton(link);
    const [first] = await paymentsOf(link);
    await service.call('POST', `/payments/${first?.id}/cancel`);
    expect((await pressButton(link)).status).toBe(303);
    await pay(link);
    expect((await paymentsOf(link)).map(({ status }) => status)).toEqual(['cancelled', 'paid']);
    const refused = await pressButton(link);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('This link is paid.')]);
    expect(await textOf(link.url)).not.toContain('<form');
    const { payment_link } = (await service.call('GET', `/payment-links/${link.id}`)).body;
    expect(payment_link).toMatchObject({ status: 'paid', paid_count: 1, paid_amount: 50_000 });
  });

  it('a code that is open when its link is closed can be paid, and counts', async () => {
    const link = await createTestLink(service, { kind: 'reusable', amount: 30_000 });
    await pressButton(link);
    await service.call('POST', `/payment-links/${link.id}/close`);
    await pay(link);
    const { payment_link } = (await service.call('GET', `/payment-links/${link.id}`)).body;
    expect(payment_link).toMatchObject({ status: 'closed', paid_count: 1, paid_amount: 30_000 });
  });

  const times = Array.from({ length: bySize({ small: 1, full: 10 }) }, (_, index) => index + 1);
  it.each(times)('money for an earlier payment of a paid link is returned, and the link stays paid: %i', async () => {
    const link = await createTestLink(service);
    await pressButton(link);
    const [first] = await paymentsOf(link);
    await service.call('POST', `/payments/${first?.id}/cancel`);
    await pressButton(link);
    await pay(link);
    await service.pay(first?.referenceId ?? '');
    await eventually(
      () =>
        service.db.query('select from late_payments where payment_id = $1 and status = $2', [first?.id, 'refunded']),
      ({ rowCount }) => rowCount === 1,
    );
    expect((await paymentsOf(link)).map(({ status }) => status)).toEqual(['cancelled', 'paid']);
    const { payment_link } = (await service.call('GET', `/payment-links/${link.id}`)).body;
    expect(payment_link).toMatchObject({ status: 'paid', paid_count: 1, paid_amount: 50_000 });
    const { rows } = await service.db.query(
      `select account, sum(case side when 'debit' then amount_rupiah else -amount_rupiah end)::integer as sum
       from ledger_entries join ledger_postings on id = posting_id where payment_id = $1 group by account order by 1`,
      [first?.id],
    );
    expect(rows).toEqual(['provider_receivable', 'suspense'].map((account) => ({ account, sum: 0 })));
  });

  it('the amount of the first visitor stands until that payment ends', async () => {
    const link = await createTestLink(service, { minimum_amount: 10_000 });
    expect((await pressButton(link, { amount: '50.000' })).status).toBe(303);
    const second = await pressButton(link, { amount: '60.000' });
    expect([second.status, await second.text()]).toEqual([
      409,
      expect.stringContaining('Rp\u00a050.000 is being paid. Pay it, or wait until'),
    ]);
    expect(await textOf(link.url)).toContain('Pay Rp\u00a050.000');
    expect(await paymentsOf(link)).toHaveLength(1);
  });
});

describe('a reusable link', () => {
  it('a page that is sent twice makes one payment, and each opening one', async () => {
    const link = await createTestLink(service, { kind: 'reusable', amount: 20_000 });
    const attempt = randomUUID();
    const [one, two] = await Promise.all([pressButton(link, { attempt }), pressButton(link, { attempt })]);
    expect(one.headers.get('location')).toBe(two.headers.get('location'));
    expect((await pressButton(link, { attempt: attempt.toUpperCase() })).status).toBe(303);
    await Promise.all([pressButton(link), pressButton(link)]);
    expect(await paymentsOf(link)).toHaveLength(3);
    await pay(link);
    expect((await pressButton(link)).status).toBe(303);
  });

  it('a page that is sent again with another amount makes a payment of that amount', async () => {
    const bounds = { minimum_amount: 10_000, maximum_amount: 100_000 };
    const link = await createTestLink(service, { kind: 'reusable', ...bounds });
    const attempt = randomUUID();
    for (const amount of ['20.000', '30.000', '20.000']) {
      expect((await pressButton(link, { attempt, amount })).status).toBe(303);
    }
    const { transactions } = (await service.call('GET', `/transactions?payment_link=${link.referenceId}`)).body;
    expect(transactions.map(({ amount }: { amount: number }) => amount)).toEqual([30_000, 20_000]);
  });

  it('a payment has the terms of its link, and its return URL only while that is registered', async () => {
    const address = (origins: string) =>
      service.db.query('update merchants set checkout_origins = $2 where id = $1', [service.merchantId, origins]);
    const terms = { merchant_reference_id: 'ORDER-9', payment_expires_in: 300, return_url: 'https://shop.example/o' };
    await address('{https://shop.example}');
    // The API reads a merchant again after half a second.
    const link = await eventually(
      () => createTestLink(service, { kind: 'reusable', amount: 20_000, ...terms }).catch(() => null),
      (made) => made !== null,
    );
    if (link === null) throw new Error('The link was not made');
    // A visitor does not choose the amount of this link.
    expect((await pressButton(link, { amount: '1000' })).status).toBe(303);
    await address('{}');
    expect((await pressButton(link)).status).toBe(303);
    const path = `/transactions?payment_link=${link.referenceId}&expand=description,return_url,expires_at`;
    const { transactions } = (await service.call('GET', path)).body;
    const common = { amount: 20_000, merchant_reference_id: 'ORDER-9', description: 'Invoice 1042' };
    expect(transactions).toEqual([
      expect.objectContaining({ ...common, return_url: null }),
      expect.objectContaining({ ...common, return_url: terms.return_url }),
    ]);
    for (const { created_at, expires_at } of transactions) {
      expect(Date.parse(expires_at) - Math.ceil(Date.parse(created_at) / 1_000) * 1_000).toBe(300_000);
    }
  });

  it('the least and the most of a chosen amount can be paid', async () => {
    const bounds = { minimum_amount: 10_000, maximum_amount: 100_000 };
    const link = await createTestLink(service, { kind: 'reusable', ...bounds });
    for (const amount of ['10.000', '100.000']) expect((await pressButton(link, { amount })).status).toBe(303);
    const { transactions } = (await service.call('GET', `/transactions?payment_link=${link.referenceId}`)).body;
    expect(transactions.map(({ amount }: { amount: number }) => amount)).toEqual([100_000, 10_000]);
  });

  it('409: the payments of a link are used up', async () => {
    const link = await createTestLink(service, { kind: 'reusable', amount: 20_000 });
    await service.db.query(
      `insert into payment_link_payments (link_id, number, payment_id, created_at)
       values ($1, $2, gen_random_uuid(), $3)`,
      [link.id, LINK_LIMITS.payments, new Date(Date.now() - 86_400_000)],
    );
    const response = await pressButton(link);
    expect([response.status, await response.text()]).toEqual([
      409,
      expect.stringContaining('Ask the shop for a new link.'),
    ]);
    expect(await paymentsOf(link)).toEqual([]);
  });

  it('429 with Retry-After: the payments of a minute are used up', async () => {
    const link = await createTestLink(service, { kind: 'reusable', amount: 20_000 });
    for (let number = 1; number <= 20; number += 1) {
      await openLinkNumber(service.db, { linkId: link.id, paymentId: randomUUID(), number: null, at: new Date() });
    }
    const response = await pressButton(link);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '60']);
  });
});

it.each([
  ['nothing', ''],
  ['less than the minimum', '9.999'],
  ['more than the maximum', '100.001'],
  ['a word', 'ten'],
  ['decimals', '200,50'],
])('422 with the form again: an amount of %s', async (_name, amount) => {
  const link = await createTestLink(service, { kind: 'reusable', minimum_amount: 10_000, maximum_amount: 100_000 });
  const response = await pressButton(link, { amount });
  const html = await response.text();
  expect(response.status).toBe(422);
  expect(html).toContain('Enter an amount from Rp\u00a010.000 to Rp\u00a0100.000.');
  expect(html).toContain('aria-invalid="true"');
  expect(await paymentsOf(link)).toEqual([]);
});

it('422 with the form again: a form without the id of its page', async () => {
  const link = await createTestLink(service);
  for (const attempt of ['', '1', `${randomUUID()}0`]) {
    const response = await pressButton(link, { attempt });
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining('name="attempt"')]);
  }
  expect(await paymentsOf(link)).toEqual([]);
});

it('409: a link that was closed', async () => {
  const link = await createTestLink(service);
  await service.call('POST', `/payment-links/${link.id}/close`);
  const response = await pressButton(link);
  expect([response.status, await response.text()]).toEqual([
    409,
    expect.stringContaining('The shop has closed this link.'),
  ]);
});

it.each([
  ['is suspended', "status = 'suspended'", "status = 'approved'", false],
  ['may not use the provider', "providers = '{shopeepay}'", "providers = '{gopay,shopeepay}'", true],
])('409, and no number is used up: the merchant %s', async (_name, change, undo, hasForm) => {
  const link = await createTestLink(service);
  await service.db.query(`update merchants set ${change} where id = $1`, [service.merchantId]);
  expect((await textOf(link.url)).includes('<form')).toBe(hasForm);
  const response = await pressButton(link);
  await service.db.query(`update merchants set ${undo} where id = $1`, [service.merchantId]);
  expect([response.status, await response.text()]).toEqual([
    409,
    expect.stringContaining('The shop cannot take payments at present.'),
  ]);
  const { rowCount } = await service.db.query('select from payment_link_payments where link_id = $1', [link.id]);
  expect(rowCount).toBe(0);
});

import { createHash } from 'node:crypto';
import { MAGIC_AMOUNTS } from '../../src/sandbox/magic-amounts';
import { eventually } from '../support/eventually';
import { openSandbox, startNotificationReceiver, type SandboxUnderTest } from './sandbox-under-test';

let sandbox: SandboxUnderTest;

beforeAll(async () => {
  sandbox = await openSandbox();
});

afterAll(() => sandbox.close());

async function page(search = ''): Promise<{ text: string; policy: string }> {
  const response = await fetch(sandbox.url + search);
  expect(response.headers.get('content-type')).toMatch('text/html');
  return { text: await response.text(), policy: response.headers.get('content-security-policy') ?? '' };
}

/** The part of the page that shows one order. */
function cardOf(text: string, orderId: string): string {
  return text.match(/<article.*?<\/article>/gs)?.find((card) => card.includes(`<code>${orderId}</code>`)) ?? '';
}

/** Submits a form like a browser without JavaScript. */
function submit(action: string, fields: Record<string, string> = {}, search = ''): Promise<Response> {
  const headers = { referer: `${sandbox.url}/${search}` };
  const body = new URLSearchParams(fields);
  return fetch(new URL(action, sandbox.url), { method: 'POST', body, headers, redirect: 'manual' });
}

it('shows what to do while there are no orders', async () => {
  expect((await page()).text).toContain('No code to scan');
  expect((await page('/?tab=orders')).text).toContain('No orders yet');
});

it('shows an order with its QR, and pays it by a button', async () => {
  const { order_id } = await sandbox.charge({ grossAmount: 1_250_000 });
  const card = cardOf((await page('/?tab=orders')).text, order_id);
  expect(card).toContain('Rp 1.250.000');
  expect(card).toContain('Toko Sandbox Lunas');
  expect(card).toContain('waiting');

  const imageUrl = /<img[^>]+src="([^"]+)"/.exec(card)?.[1] ?? '';
  expect((await fetch(new URL(imageUrl, sandbox.url))).headers.get('content-type')).toBe('image/png');

  const action = /<form method="post" action="([^"]+)"/.exec(card)?.[1] ?? '';
  const response = await submit(action, {}, '?tab=orders');
  expect(response.status).toBe(303);
  expect(response.headers.get('location')).toBe('/?tab=orders');
  const after = cardOf((await page('/?tab=orders')).text, order_id);
  expect(after).toContain('paid');
  expect(after).not.toContain('<form');
});

it('offers to pay an expired order late', async () => {
  const { order_id } = await sandbox.charge();
  await sandbox.call('POST', `/v2/${order_id}/expire`);
  const waiting = await sandbox.charge();
  const late = await sandbox.charge();
  await sandbox.call('POST', `/v2/${late.order_id}/expire`);
  const { text } = await page('/?tab=orders');
  expect(cardOf(text, order_id)).toContain('<button class="late">Pay late</button>');
  // The newest order does not wait any more, so it stands below.
  const [first = ''] = /<article.*?<\/article>/s.exec(text) ?? [];
  expect(first).toContain(waiting.order_id);
});

it('shows the delay of the bank, sets it by form, and returns to the same tab', async () => {
  expect((await page('/?tab=faults')).text).toContain('name="refund_confirms_after_seconds"');
  const fields = { refund_confirms_after_seconds: '90.5' };
  const response = await submit('/simulator/bank', fields, '?tab=faults');
  expect([response.status, response.headers.get('location')]).toEqual([303, '/?tab=faults']);
  expect((await page('/?tab=faults')).text).toContain('value="90.5"');
  for (const wrong of ['', '-1', 'soon']) {
    expect((await submit('/simulator/bank', { refund_confirms_after_seconds: wrong })).status).toBe(400);
  }
});

it('finds an order and its notifications by a part of the id, and links to its checkout page', async () => {
  const receiver = await startNotificationReceiver();
  const found = await sandbox.charge({}, { 'x-override-notification': receiver.url });
  const other = await sandbox.charge();
  await sandbox.call('POST', `/simulator/payments/${found.order_id}/pay`);
  const part = encodeURIComponent(found.order_id.slice(3).toLowerCase());
  const { text } = await page(`/?tab=orders&q=${part}`);
  expect([cardOf(text, found.order_id) !== '', cardOf(text, other.order_id) !== '']).toEqual([true, false]);
  const checkout = `${new URL(receiver.url).origin}/sandbox/checkout/${found.order_id}/${found.transaction_id}`;
  expect(cardOf(text, found.order_id)).toContain(`href="${checkout}"`);
  expect((await page(`/?tab=notifications&q=${part}`)).text).toContain('settlement');
  expect((await page('/?tab=orders&q=nothing')).text).toContain('No order has this id.');
  await receiver.close();
});

it('lists the magic amounts', async () => {
  const { text } = await page('/?tab=faults');
  for (const { totalRupiah, description } of MAGIC_AMOUNTS) {
    expect(text).toContain(`Rp ${totalRupiah.toLocaleString('id-ID')}`);
    expect(text).toContain(description);
  }
});

it("shows each notification's state and the merchant's response", async () => {
  const receiver = await startNotificationReceiver();
  // The second attempt gets its response after the page has shown the first one.
  let resolveFirst: () => void = () => {};
  const seen = new Promise<void>((resolve) => (resolveFirst = resolve));
  receiver.respond = (response) => {
    if (receiver.bodies.length === 1) response.writeHead(401).end();
    else void seen.then(() => response.writeHead(200).end());
  };
  const { order_id } = await sandbox.charge({}, { 'x-override-notification': receiver.url });
  await sandbox.call('POST', `/simulator/payments/${order_id}/pay`);
  const rowOf = async () =>
    (await page('/?tab=notifications')).text
      .match(/<tr>.*?<\/tr>/gs)
      ?.find((row) => row.includes(order_id) && row.includes('settlement'));
  await eventually(rowOf, (row = '') => row.includes('HTTP 401') && row.includes('due '));
  resolveFirst();
  const delivered = await eventually(rowOf, (row = '') => row.includes('HTTP 200'));
  expect(delivered).toContain('delivered');
  await receiver.close();
});

it('arms and clears faults by form', async () => {
  await submit('/simulator/faults', { operation: 'charge', kind: 'reject', times: '2' });
  expect((await page('/?tab=faults')).text).toContain('charge: reject × 2');
  await submit('/simulator/faults/clear');
  expect((await page('/?tab=faults')).text).toContain('No faults armed.');
});

it("escapes the merchant's notification URL", async () => {
  const receiver = await startNotificationReceiver();
  const evil = `${receiver.url}?"><script>alert(1)</script>`;
  const { order_id } = await sandbox.charge({}, { 'x-override-notification': evil });
  await sandbox.call('POST', `/simulator/payments/${order_id}/pay`);
  await receiver.waitFor(1);
  const { text } = await page('/?tab=notifications');
  expect(text).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(text).not.toContain('<script>alert');
  await receiver.close();
});

it('the Content-Security-Policy of the page allows only its own style and script', async () => {
  const { text, policy } = await page();
  expect(policy).toContain("default-src 'none'");
  for (const name of ['style', 'script']) {
    const elements = [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))];
    expect(elements).toHaveLength(1);
    const digest = createHash('sha256')
      .update(elements[0]?.[1] ?? '')
      .digest('base64');
    expect(policy).toContain(`${name}-src 'sha256-${digest}'`);
  }
  expect(text).not.toMatch(/src="https?:/);
});

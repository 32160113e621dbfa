import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { fileOf, GUIDES, INDONESIAN_SHOP_GUIDES, SHOP_GUIDES } from '../../../src/web/docs/guides';
import { DocsSearch } from '../../../src/web/docs/search';
import { isExcludedFromContext, readDockerfile } from '../../deploy/dockerfile';
import { startTestApis, type TestApis } from '../../support/api';
import { findAccessibilityViolations, findUnreachableControls, openPage, startBrowser } from '../../support/browser';
import { eventually } from '../../support/eventually';

const SANDBOX = 'http://127.0.0.1:4711';

let apis: TestApis;
let url: string;
beforeAll(async () => {
  apis = await startTestApis([{ sandboxUrl: SANDBOX }, { environment: 'production' }]);
  url = apis.urls[0] ?? '';
});
afterAll(() => apis.close());

/** The examples whose code docs/webhooks.md has when it is served. */
const RECEIVERS = ['node/receiver.mjs', 'python/receiver.py', 'php/receiver.php', 'go/receiver.go'].map(
  (file) => `examples/webhook-receiver-${file}`,
);
const GUIDE_FILES = GUIDES.map(({ name }) => `${name}.md`);

const LINK = /\[[^\]]+\]\(([^)\s]+)\)/g;
const linksIn = (text: string) => [...text.matchAll(LINK)].map(([, target = '']) => target);

/** The anchors of a page, as GitHub derives them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

async function getPage(address: string): Promise<string> {
  const response = await fetch(address);
  expect([address, response.status]).toEqual([address, 200]);
  return response.text();
}

it('/llms.txt links to every guide, and each page has a title and fits into 400 lines', async () => {
  const response = await fetch(`${url}/llms.txt`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  const index = await response.text();
  expect(index).toMatch(/^# Lunas\n\n> /);
  const paths = linksIn(index).map((link) => new URL(link).pathname);
  expect(paths).toEqual([...GUIDE_FILES.map((file) => `/docs/${file}`), '/openapi.json', '/docs']);
  for (const file of GUIDE_FILES) {
    const page = await fetch(`${url}/docs/${file}`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
    const text = await page.text();
    expect(text).toMatch(/^# \S/);
    expect(text.split('\n').length).toBeLessThan(400);
  }
});

it.each(GUIDE_FILES)('each link of /docs/%s leads to a page that is served, and to a heading of it', async (file) => {
  const text = await getPage(`${url}/docs/${file}`);
  const targets = linksIn(text)
    .filter((link) => !/^https?:/.test(link))
    .map((link) => new URL(link, `${url}/docs/${file}`));
  const anchors = await Promise.all(targets.map(async ({ href }) => ['', ...anchorsOf(await getPage(href))]));
  expect(targets.filter(({ hash }, index) => !anchors[index]?.includes(hash.slice(1)))).toEqual([]);
});

it('the package and the image contain the guides, and the files that pages load', () => {
  const manifest: unknown = JSON.parse(readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  const { files } = z.object({ files: z.array(z.string()) }).parse(manifest);
  const copies = readDockerfile().map(({ argument }) => argument);
  for (const area of ['checkout', 'docs', 'ui']) {
    const directory = `src/web/${area}/files`;
    expect(files).toContain(directory);
    expect(copies).toContain(`--from=build /lunas/${directory} ./${directory}`);
  }
  for (const file of [...GUIDES.map(fileOf), ...RECEIVERS]) {
    expect(files).toContain(file);
    expect(isExcludedFromContext(file)).toBe(false);
  }
  expect(copies).toContain('--from=build /lunas/examples ./examples');
  expect(copies).toContain('--from=build /lunas/packages/node/README.md ./packages/node/README.md');
  expect(isExcludedFromContext('docs/production.md')).toBe(true);
  expect(isExcludedFromContext('examples/shop-go/shop.go')).toBe(true);
});

/** The results of a search. The tests of this file share the limit of the process, so it is repeated until it runs. */
async function getResults(query: string): Promise<string> {
  const search = () => fetch(`${url}/docs/search${query}`);
  const response = await eventually(search, ({ status }) => status !== 429);
  expect([query, response.status]).toEqual([query, 200]);
  return response.text();
}

/** Browsers name HTML in their requests. */
const BROWSER = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }, redirect: 'manual' } as const;

const addressesIn = (page: string) => [...page.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);
const idsIn = (page: string) => [...page.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);

/** All pages that links lead to, from `/docs`, by path. */
async function crawl(): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const open = ['/docs'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (pages.has(path)) continue;
    const response = await fetch(url + path, BROWSER);
    expect([path, response.status]).toEqual([path, 200]);
    const isPage = response.headers.get('content-type')?.startsWith('text/html') ?? false;
    const text = await response.text();
    pages.set(path, isPage ? text : '');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect([path, policy.startsWith("default-src 'none'")]).toEqual([path, isPage]);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const links = isPage ? addressesIn(text).filter((address) => !/^https?:|^#/.test(address)) : [];
    open.push(...links.map((address) => address.split('#')[0] ?? ''));
  }
  return pages;
}

describe('the pages', () => {
  it('every page is found from /docs, loads only from the service, and links to parts that exist', async () => {
    const pages = await crawl();
    const operations = ['create-payment', 'get-payment', 'get-qris', 'cancel-payment', 'cancel-transaction'];
    for (const name of [
      ...GUIDES.map((guide) => guide.name),
      'api',
      'api/events',
      ...operations.map((o) => `api/${o}`),
    ]) {
      expect([...pages.keys()]).toContain(`/docs/${name}`);
    }
    for (const [path, page] of pages) {
      expect(page).not.toMatch(/<style|<script>|style="| on\w+="/);
      const missing = addressesIn(page).filter((address) => {
        const [target = '', anchor] = address.split('#');
        return anchor !== undefined && !idsIn(pages.get(target === '' ? path : target) ?? '').includes(anchor);
      });
      expect([path, missing.filter((address) => !address.startsWith('https:'))]).toEqual([path, []]);
      expect([path, new Set(idsIn(page)).size]).toEqual([path, idsIn(page).length]);
    }
  });

  it('the first page begins with a request that creates a payment', async () => {
    const page = await getPage(`${url}/docs`);
    const text = page.slice(page.indexOf('<main')).replaceAll(/<[^>]+>/g, '');
    expect(text.indexOf('curl')).toBeGreaterThan(0);
    expect(text.indexOf('curl')).toBeLessThan(text.indexOf('Quick start'));
  });

  it('each guide of a shop has a link to its other language', async () => {
    for (const { name, translation = '', language = 'en' } of [...SHOP_GUIDES, ...INDONESIAN_SHOP_GUIDES]) {
      const page = await getPage(`${url}/docs/${name}`);
      expect(page).toContain(`<main id="content" lang="${language}">`);
      expect(page).toContain(`<a href="/docs/${translation}" hrefLang="${language === 'en' ? 'id' : 'en'}"`);
    }
  });

  it('a page of the documents is sent again only after a change', async () => {
    const etag = (await fetch(`${url}/docs/webhooks`)).headers.get('etag') ?? '';
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await fetch(`${url}/docs/webhooks`, { headers: { 'if-none-match': tag } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    expect((await fetch(`${url}/docs/webhooks`, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('a page of the documents has the tables, code and links of a guide, and no comment of its Markdown', async () => {
    const page = await getPage(`${url}/docs/webhooks`);
    expect(page).toContain('<h2 id="receiver-requirements">');
    // A phone shows the name of its column before a cell.
    expect(page).toContain('<td role="cell" data-name="Header"><code>X-Service-Delivery</code></td>');
    expect(page).toContain('<span class="hljs-keyword">package</span> main');
    expect(page).not.toContain('<!--');
    expect(await getPage(`${url}/docs/checkout`)).toContain('href="/docs/webhooks"');
  });

  it('a page of the documents has the addresses of this service and of its sandbox, also as Markdown', async () => {
    const published = /http:\/\/localhost:\d+/;
    const found = await Promise.all(
      ['integration', 'integration.md', 'sandbox', 'sandbox.md'].map((page) => getPage(`${url}/docs/${page}`)),
    );
    for (const text of found) expect(text).not.toMatch(/127\.0\.0\.1:300[01]/);
    for (const text of found.slice(0, 2))
      expect(text.match(published)?.[0]).toBe(`http://localhost:${new URL(url).port}`);
    for (const text of found.slice(2)) expect(text).toContain(`${SANDBOX}/simulator/faults`);
    expect(await getPage(`${apis.urls[1]}/docs/sandbox`)).toContain('http://127.0.0.1:3001/simulator/faults');
  });

  it('lead to the client for Node.js, and name the examples that are not served', async () => {
    const page = await getPage(`${url}/docs/integration`);
    expect(page).toContain('<a href="/docs/node-client">@lunas/node</a>');
    expect(page).toContain('(<code>examples/README.md</code> in the repository of Lunas)');
    expect(await getPage(`${url}/docs/node-client`)).toContain('webhooks.verify');
  });

  it.each(['index.html', 'docs.css', '..%2fpackage.json', '%2e%2e%2fpackage.json', 'constructor', 'api/constructor'])(
    '404: there is no %s',
    async (name) => {
      const responses = [await fetch(`${url}/docs/${name}`), await fetch(`${url}/docs/${name}`, BROWSER)];
      expect(responses.map(({ status }) => status)).toEqual([404, 404]);
      expect(await responses[0]?.json()).toMatchObject({ error: { code: 'not_found' } });
      expect(await responses[1]?.text()).toContain('There is no such page');
    },
  );

  it('show every field, error and header of an operation', async () => {
    const page = await getPage(`${url}/docs/api/create-payment`);
    for (const text of ['POST', '/payments', 'merchant_reference_id', '1 to 10000000', 'Idempotency-Key', 'Bulk']) {
      expect(page).toContain(text);
    }
    expect(page).toMatch(
      /<code class="name">amount<\/code><span class="dim small">integer<\/span><span[^>]*>required</,
    );
    expect(page).toContain('unsupported_payment_method');
    expect(page).toContain('X-Payment-Status');
    expect(await getPage(`${url}/docs/api/events`)).toContain('payout.returned');
  });
});

describe('the search', () => {
  it.each([
    ['signature', 'Webhooks', '/docs/webhooks'],
    ['kedaluwarsa', 'The contract', '/docs/contract'],
    ['pencairan', 'Pencairan', '/docs/pencairan'],
    ['kasir', 'Terima pembayaran di kasir', '/docs/dasbor#terima-pembayaran-di-kasir'],
    ['key', 'Webhooks', '/docs/webhooks'],
    ['idempotncy', 'Create one transaction', '/docs/api/create-payment'],
    ['10000000', 'body: one transaction', '/docs/api/create-payment#body-one-transaction'],
    ['svg', 'response', '/docs/api/get-qris#response'],
    ['1000402', 'Magic amounts', '/docs/sandbox#magic-amounts'],
    ['polling', 'Read a transaction', '/docs/api/get-payment'],
    ['payout_id', 'Webhook events: payouts', '/docs/api/events#payouts'],
    ['X-Payment-Status', '6. Handle what goes wrong', '/docs/integration#6-handle-what-goes-wrong'],
  ])('finds %s', async (query, title, address) => {
    const page = await getResults(`?q=${query}`);
    expect(page).toContain(title);
    expect(page).toContain(`<a href="${address}`);
    expect(page).toContain('<mark>');
  });

  it('marks a word that contains a character of a pattern', () => {
    const characters = String.raw`! " # $ % & ' ( ) * + , - . / : ; < = > ? @ [ \ ] ^ _ { | } ~ 🙂`.split(' ');
    const words = characters.map((character) => `key${character}1`);
    const search = new DocsSearch([{ id: '/docs/a', page: 'A', title: 'A', text: words.join(' ') }]);
    const marked = (query: string) =>
      search.find(query).flatMap(({ excerpt }) => excerpt.filter(({ isMatch }) => isMatch).map(({ text }) => text));
    expect(new Set(marked('key'))).toEqual(new Set(['key']));
    // Punctuation separates words, symbols do not.
    for (const word of words) expect(marked(word)).toContain(/\p{P}/u.test(word) ? 'key' : word);
  });

  it('a search of many words, of their beginnings, and with mistakes costs little more than one of a few words', () => {
    const sections = GUIDES.flatMap((guide) =>
      readFileSync(path.join(PACKAGE_ROOT, fileOf(guide)), 'utf8')
        .split(/^#+ /m)
        .map((text, index) => ({
          id: `${guide.name}${index}`,
          page: guide.title,
          title: text.split('\n')[0] ?? '',
          text,
        })),
    );
    const search = new DocsSearch(sections);
    const leastMs = (queries: readonly string[]) =>
      Math.min(
        ...Array.from({ length: 10 }, () => {
          const startedMs = performance.now();
          for (const query of queries) search.find(query);
          return (performance.now() - startedMs) / queries.length;
        }),
      );
    const usual = leastMs(['refund', 'verify the signature', 'create payment', 'the webhook']);
    const hostile = leastMs([
      'a b c d e f g h i j k l m n o p q r s t u v w x y z',
      'aa bb cc re st pa co in se th an wi pr de',
      'paymant webhoak signatare transactian metadeta idempotancy referance custamer exparied',
      `${'transactionidentifier'.repeat(2)} ${'referenceidentifier'.repeat(2)}`,
    ]);
    // Half of it; without the limits twenty times.
    expect(hostile / usual).toBeLessThan(5);
  });

  it('shows what was searched as text, and what to do if nothing was found', async () => {
    const page = await getResults(`?q=${encodeURIComponent('<script>qqqqqq')}`);
    expect(page).toContain('&lt;script&gt;qqqqqq');
    expect(page).not.toContain('<script>');
    expect(page).toContain('Nothing was found');
    expect(await getResults(`?q=${'x'.repeat(5_000)}`)).not.toContain('x'.repeat(101));
    for (const query of ['', '?q=', '?q=a&q=b', '?q[a]=b', `?q=${encodeURIComponent('(.*[')}`]) await getResults(query);
  });
});

describe('the way to the documents', () => {
  it('GET / leads a browser there, and shows a program the address', async () => {
    const response = await fetch(url, BROWSER);
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs']);
    for (const path of ['/', '/v1/payments', '/docs/nothing/at/all']) {
      const program = await fetch(url + path);
      expect([program.status, await program.json()]).toEqual([
        404,
        {
          error: {
            code: 'not_found',
            message: expect.stringMatching(/^There is no such address\. The documents are at http:.*:\d+\/docs\.$/),
          },
        },
      ]);
    }
  });
});

describe('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  const PAGES = ['/docs', '/docs/webhooks', '/docs/api/create-payment', '/docs/search?q=refund'];

  it('the pages of the documents are accessible, by keyboard too, and fit on a narrow screen', async () => {
    for (const path of PAGES) {
      const wide = await openPage(browser, url + path, { viewport: { width: 1280, height: 800 } });
      expect([path, await findAccessibilityViolations(wide.page)]).toEqual([path, []]);
      // The arrow keys reach the other tabs.
      const unreachable = (await findUnreachableControls(wide.page)).filter((html) => !html.includes('role="tab"'));
      expect([path, unreachable]).toEqual([path, []]);
      expect(wide.problems).toEqual([]);
      await wide.close();
      const narrow = await openPage(browser, url + path, {
        viewport: { width: 320, height: 640 },
        colorScheme: 'dark',
      });
      expect([path, await findAccessibilityViolations(narrow.page)]).toEqual([path, []]);
      expect([path, await narrow.page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 320]);
      await narrow.close();
    }
  });

  it('a tab shows the sample of its language, also on the next page; without script all are shown', async () => {
    const { page, close } = await openPage(browser, `${url}/docs/api/create-payment`);
    await page.getByRole('tab', { name: 'curl' }).press('ArrowRight');
    await page.goto(`${url}/docs/api/refund-payment`);
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Node.js');
    expect(await page.getByText('process.env.PAYMENT_ID').isVisible()).toBe(true);
    expect(await page.getByText('curl -sS').isVisible()).toBe(false);
    await close();
    const plain = await openPage(browser, `${url}/docs/api/create-payment`, { javaScriptEnabled: false });
    for (const text of [
      'curl -sS',
      'await fetch',
      'urllib.request.Request',
      'stream_context_create',
      'http.NewRequest',
    ]) {
      expect(await plain.page.getByText(text).isVisible()).toBe(true);
    }
    await plain.page.getByRole('searchbox').first().fill('signature');
    await plain.page.getByRole('searchbox').first().press('Enter');
    await plain.page.waitForURL('**/docs/search?q=signature');
    await plain.close();
  });

  it('results appear while the reader types, are counted aloud, and are chosen by the arrow keys', async () => {
    const { page, problems, close } = await openPage(browser, `${url}/docs`);
    const field = page.getByRole('combobox', { name: 'Search the documents' }).first();
    const options = page.getByRole('option');
    await page.keyboard.press('/');
    await page.keyboard.type('idempotncy');
    await options.first().waitFor();
    expect(await page.getByRole('status').first().textContent()).toBe(`Results: ${await options.count()}`);
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await field.press('Escape');
    expect([await options.count(), await field.inputValue()]).toEqual([0, 'idempotncy']);
    await field.fill('saldo');
    await options.first().waitFor();
    await field.press('ArrowUp');
    const last = options.last();
    expect(await last.getAttribute('aria-selected')).toBe('true');
    expect(await field.getAttribute('aria-activedescendant')).toBe(await last.getAttribute('id'));
    await field.press('ArrowDown');
    expect(await field.getAttribute('aria-activedescendant')).toBeNull();
    await field.press('ArrowDown');
    const first = await options.first().getAttribute('href');
    await field.press('Enter');
    await page.waitForURL(`${url}${first}`);
    expect(problems.filter((problem) => !problem.includes('429'))).toEqual([]);
    await close();
  });

  it('Enter without a chosen result opens the page of results; the texts are in the language of the page', async () => {
    const { page, close } = await openPage(browser, `${url}/docs/dasbor`, { viewport: { width: 320, height: 640 } });
    await page.locator('.top summary').click();
    const field = page.getByRole('combobox', { name: 'Cari di dokumen' });
    await field.fill('qqqqqq');
    await page.getByText('Tidak ditemukan').waitFor();
    await field.fill('kasir');
    await page.getByText(/^Hasil: \d/).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await field.press('Enter');
    await page.waitForURL('**/docs/search?q=kasir');
    await close();
  });

  it('a request can be sent to the sandbox with a key of it, and with no other', async () => {
    const { secret } = await apis.newKey();
    const { page, problems, close } = await openPage(browser, `${url}/docs/api/list-transactions`);
    const send = () => page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Try it in the sandbox').click();
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await page.getByLabel('Secret key').fill(secret.replace('sk_test_', 'sk_live_'));
    await send();
    expect(await page.getByRole('status').textContent()).toBe('');
    await page.getByLabel('Secret key').fill(secret);
    await page.getByText('Optional parameters').click();
    await page.getByLabel('limit').fill('7');
    await send();
    await page.getByText('200 OK').waitFor();
    expect(await page.getByRole('status').textContent()).toContain('"transactions": []');
    await page.goto(`${url}/docs/api/get-payment`);
    await page.getByText('Try it in the sandbox').click();
    await page.getByLabel('id', { exact: true }).fill('<b>/../ORDER-1');
    await send();
    await page.getByText('404 Not Found').waitFor();
    expect(await page.getByRole('status').textContent()).toContain('X-Error-Reason: payment_unknown');
    expect(problems).toEqual(['Failed to load resource: the server responded with a status of 404 (Not Found)']);
    await close();
  });

  it('no request can be sent from a page in production', async () => {
    expect(await getPage(`${url}/docs/api/get-payment`)).toContain('Try it');
    expect(await getPage(`${apis.urls[1]}/docs/api/get-payment`)).not.toContain('Try it');
  });
});

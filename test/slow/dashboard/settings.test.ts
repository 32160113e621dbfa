import { randomBytes } from 'node:crypto';
import { createCanvas } from '@napi-rs/canvas';
import { TEXTS } from '../../../src/web/checkout/texts';
import { NOTICE_TEXTS } from '../../../src/web/dashboard/notices/notice-texts';
import { APPEARANCE_TEXTS } from '../../../src/web/dashboard/settings/appearance-texts';
import { SETTINGS_TEXTS } from '../../../src/web/dashboard/settings/settings-texts';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { HttpBrowser } from '../../support/http-browser';
import { createMember, createShop } from '../../support/people';
import { createSecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const { en: texts, id: indonesian } = SETTINGS_TEXTS;

let service: TestService;
let dashboard: TestDashboard;
let shop: { readonly id: string; readonly code: string };
let path: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
  shop = await createShop(service.db);
  path = `/m/${shop.code}/settings`;
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});

const otherMember = async () => signedIn('owner', (await createShop(service.db)).id);

async function signedIn(
  role: 'owner' | 'developer' | 'finance' | 'support',
  merchantId = shop.id,
): Promise<HttpBrowser> {
  const email = `${role}-${Math.random()}@shop.test`;
  await createMember(service.db, email, [[merchantId, role]]);
  const browser = new HttpBrowser(dashboard.url);
  const [name = '', value = ''] = (await dashboard.cookie(email)).split('=');
  browser.cookies.set(name, value);
  return browser;
}

async function storedOf(merchantId: string) {
  const { rows } = await service.db.query<{
    zone: string;
    url: string | null;
    contact: string | null;
    origins: string[];
  }>(
    `select time_zone as zone, return_url as url, contact, checkout_origins as origins
     from merchants where id = $1`,
    [merchantId],
  );
  return rows[0];
}

const form = (zone: string, url: string, origins: string, contact = '') =>
  [
    ['zone', zone],
    ['return_url', url],
    ['origins', origins],
    ['contact', contact],
  ] as const;

it('an owner changes zone, return address and origins, and only of the own merchant', async () => {
  const other = await createSecondMerchant(service.db);
  const before = await storedOf(other.id);
  const owner = await signedIn('owner');
  const url = 'https://toko.example/thanks?order={merchant_reference_id}';
  const origins = 'https://toko.example\r\nhttps://kasir.example https://toko.example';
  const saved = await owner.post(`${path}/edit`, form('Asia/Makassar', url, origins, '0812 3456 7890'));
  expect([saved.status, saved.location]).toEqual([303, `${path}?done=saved`]);
  expect(await storedOf(shop.id)).toEqual({
    zone: 'Asia/Makassar',
    url,
    contact: '0812 3456 7890',
    origins: ['https://toko.example', 'https://kasir.example'],
  });
  expect(await storedOf(other.id)).toEqual(before);
  const { body } = await owner.get(`${path}?done=saved`);
  for (const shown of [texts.saved, url, 'https://kasir.example', '· WITA']) expect(body).toContain(shown);
  const { rows } = await service.db.query(
    `select action, target, outcome from user_actions join user_action_outcomes on action_id = id
     where merchant_id = $1 and action = 'merchant.set'`,
    [shop.id],
  );
  expect(rows).toEqual([{ action: 'merchant.set', target: shop.id, outcome: 'succeeded' }]);

  expect((await owner.post(`${path}/edit`, form('Asia/Jakarta', '', ''))).status).toBe(303);
  expect(await storedOf(shop.id)).toEqual({ zone: 'Asia/Jakarta', url: null, contact: null, origins: [] });
});

it('the form names what an address of a shop allows: a frame, and the way back', async () => {
  const { body } = await (await signedIn('owner')).get(`${path}/edit`);
  expect(body).toMatch(/Addresses of your shops<.*in a frame.*lead back to/s);
  const { origins, originsHint } = indonesian;
  expect(origins + originsHint).toMatch(/^Alamat toko Anda.*di dalam bingkai.*kembali ke sana/);
});

it('names each field that is not possible, keeps what was typed, and changes nothing', async () => {
  const owner = await signedIn('owner');
  const before = await storedOf(shop.id);
  const tooMany = Array.from({ length: 11 }, (_, index) => `https://shop-${index}.example`).join('\n');
  for (const [zone, url, origins, field, error, contact] of [
    ['Europe/Paris', '', '', 'zone', texts.errors.zone],
    ['', '', '', 'zone', texts.errors.zone],
    ['Asia/Jakarta', 'javascript:alert(1)', '', 'return_url', texts.errors.url],
    ['Asia/Jakarta', `https://shop.example/${'x'.repeat(500)}`, '', 'return_url', texts.errors.url],
    ['Asia/Jakarta', 'https://{merchant_reference_id}.example/', '', 'return_url', texts.errors.url],
    // A browser reads it as a path of Lunas.
    ['Asia/Jakarta', 'https:shop.example/thanks', '', 'return_url', texts.errors.url],
    ['Asia/Jakarta', 'https://shop.example/\0', '', 'return_url', texts.errors.url],
    ['Asia/Jakarta', '', 'https://shop.example/path', 'origins', texts.errors.origins],
    ['Asia/Jakarta', '', "https://shop.example;script-src'", 'origins', texts.errors.origins],
    ['Asia/Jakarta', '', tooMany, 'origins', texts.errors.origins],
    ['Asia/Jakarta', '', '', 'contact', texts.errors.contact, 'javascript:alert(1)'],
    ['Asia/Jakarta', '', '', 'contact', texts.errors.contact, 'https://shop.example/\0'],
  ] as const) {
    const { status, body } = await owner.post(`${path}/edit`, form(zone, url, origins, contact));
    expect([field, url, origins, status]).toEqual([field, url, origins, 422]);
    expect(body).toContain(`<a href="#${field}">${error}</a>`);
    expect(body).toContain(`id="${field}-error"`);
    expect(body).toContain(url === '' ? '' : `value="${url}"`);
  }
  expect(await storedOf(shop.id)).toEqual(before);
});

it('attack: only an owner with a fresh proof changes where customers are sent, and every owner notices', async () => {
  const evil = form('Asia/Jakarta', 'https://evil.example/thanks', 'https://frame.example', '+62 811 0000 666');
  const thief = await signedIn('developer');
  const before = await storedOf(shop.id);
  for (const at of ['', '/edit']) {
    expect([at, (await thief.post(`${path}${at}`, evil)).status]).toEqual([at, at === '' ? 404 : 403]);
  }
  const stolen = await signedIn('owner');
  const other = await signedIn('owner');
  await service.db.query("update sessions set method = 'password', stepped_up_at = now() - interval '5 hours'");
  expect((await stolen.get(`${path}/edit`)).location).toMatch(/^\/step-up\?then=/);
  expect((await stolen.post(`${path}/edit`, evil)).location).toMatch(/^\/step-up\?then=/);
  expect(await storedOf(shop.id)).toEqual(before);
  await service.db.query('update sessions set stepped_up_at = now()');
  expect((await stolen.post(`${path}/edit`, evil)).status).toBe(303);
  const shownIn = async (language: 'en' | 'id') => {
    await service.db.query('update users set language = $1', [language]);
    return (await other.get(`/m/${shop.code}`)).body;
  };
  for (const language of ['id', 'en'] as const) {
    const { kinds } = NOTICE_TEXTS[language];
    const body = await shownIn(language);
    expect(body).toContain(kinds['security.return_url_changed']('https://evil.example'));
    expect(body).toContain(kinds['security.contact_changed']('+62 811 0000 666'));
    expect(body).toContain(kinds['security.origins_changed']('https://frame.example'));
  }
  expect((await stolen.post(`${path}/edit`, form('Asia/Jakarta', '', ''))).status).toBe(303);
});

it('a member who may only view has no form, and one who may not view has no menu item', async () => {
  const finance = await signedIn('finance');
  const { status, body } = await finance.get(path);
  expect([status, body.includes(`href="${path}/edit"`)]).toEqual([200, false]);
  expect(body).toContain(texts.zones['Asia/Jakarta']);
  expect((await finance.post(`${path}/edit`, form('Asia/Jakarta', '', ''))).status).toBe(403);
  const support = await signedIn('support');
  expect((await support.get(path)).status).toBe(403);
  expect((await support.get(`/m/${shop.code}`)).body).not.toContain(`href="${path}"`);
  expect((await finance.get(`/m/${shop.code}`)).body).toContain(`href="${path}"`);
});

it('shows in words which terms a new payment has, in both languages', async () => {
  await service.db.query(
    `insert into policies (id, provider, channel, version, fee_basis_points, fee_flat_rupiah, settlement_kind,
       settlement_delay_seconds, expires_in_seconds)
     select gen_random_uuid(), 'gopay', 'qris', max(version) + 1, 75, 500, 'automatic', 172800, 900
     from policies where provider = 'gopay'`,
  );
  const owner = await signedIn('owner');
  const { body } = await owner.get(path);
  for (const shown of ['0.75 % and Rp 500', '15 minutes', texts.settlements.automatic('2 days')]) {
    expect(body).toContain(shown);
  }
  await service.db.query(
    "update users set language = 'id' where id in (select user_id from members where merchant_id = $1)",
    [shop.id],
  );
  const translated = (await owner.get(path)).body;
  for (const shown of ['0,75 % dan Rp 500', '15 menit', indonesian.settlements.automatic('2 hari')]) {
    expect(translated).toContain(shown);
  }
});

describe('the look of the checkout page', () => {
  const look = APPEARANCE_TEXTS.en;
  const png = createCanvas(300, 100).encodeSync('png');

  async function storedLook(merchantId: string) {
    const { rows } = await service.db.query<{ accent: string | null; logo: string | null }>(
      `select accent, encode(sha256, 'hex') as logo
       from merchants left join merchant_logos on merchant_id = id where id = $1`,
      [merchantId],
    );
    return rows[0];
  }

  it('a colour is looked at, then stored, then removed', async () => {
    const developer = await signedIn('developer');
    const seen = await developer.get(`${path}/checkout?accent=%23FF6600`);
    expect([seen.status, seen.body.includes('value="#FF6600"')]).toEqual([200, true]);
    const [, style = ''] = /href="(\/assets\/accent-[\da-f]{16}-ff6600\.css)"/.exec(seen.body) ?? [];
    expect((await developer.get(style)).body).toMatch(/^\.sample\{--accent:/);
    // The sample is the card of the checkout page, with the rules of its style sheet.
    const { states, payBefore, payOnPhone, saveImage } = TEXTS.en;
    expect(seen.body.match(/<div class="checkout-card" inert="">/g)).toHaveLength(2);
    for (const text of [states.waiting.title, payBefore, payOnPhone, saveImage]) expect(seen.body).toContain(text);
    const [, card = ''] = /href="(\/assets\/checkout-card-[\da-f]{16}\.css)"/.exec(seen.body) ?? [];
    expect((await developer.get(card)).body).toMatch(/^\.sample\{.*\.checkout-card\{.*\.initials\{/);
    expect(await storedLook(shop.id)).toEqual({ accent: null, logo: null });
    expect((await developer.post(`${path}/checkout`, [['accent', 'FF6600']])).location).toBe(
      `${path}/checkout?done=colour`,
    );
    expect(await storedLook(shop.id)).toEqual({ accent: '#ff6600', logo: null });
    for (const wrong of ['red', '#f60', '#ff66001', '#ff660g']) {
      const { status, body } = await developer.post(`${path}/checkout`, [['accent', wrong]]);
      expect([wrong, status]).toEqual([wrong, 422]);
      expect(body).toContain(`<a href="#accent">${look.errors.colour}</a>`);
    }
    expect((await developer.get(path)).body).toContain(style);
    expect((await developer.post(`${path}/checkout`, [['accent', '']])).status).toBe(303);
    expect(await storedLook(shop.id)).toEqual({ accent: null, logo: null });
  });

  it('a logo is encoded again, every owner gets a notice, and another merchant never has it', async () => {
    const other = await createSecondMerchant(service.db);
    const owner = await signedIn('owner');
    const developer = await signedIn('developer');
    const { status, location } = await developer.upload(`${path}/checkout/logo`, 'logo', png);
    expect([status, location]).toEqual([303, `${path}/checkout?done=logo`]);
    const { logo } = (await storedLook(shop.id)) ?? {};
    expect(await storedLook(other.id)).toEqual({ accent: null, logo: null });
    const { body } = await owner.get(path);
    expect(body).toContain(`<img src="${path}/checkout/logo.png?hash=${logo}" width="256" height="85" alt=""`);
    const image = await owner.get(`${path}/checkout/logo.png?hash=${logo}`);
    expect([image.status, image.headers['content-type']]).toEqual([200, 'image/png']);
    const notice = NOTICE_TEXTS.en.kinds['security.logo_changed']('');
    const noticed = async () => (await owner.get(`/m/${shop.code}`)).body;
    expect(await noticed()).toContain(notice);
    expect(await noticed()).not.toContain(NOTICE_TEXTS.en.times(2));
    const outsider = await otherMember();
    expect((await outsider.get(`${path}/checkout/logo.png?hash=${logo}`)).status).toBe(404);
    expect((await outsider.upload(`${path}/checkout/logo`, 'logo', png)).status).toBe(404);
    expect((await developer.post(`${path}/checkout/logo/remove`)).location).toBe(`${path}/checkout?done=removed`);
    expect(await noticed()).toContain(NOTICE_TEXTS.en.times(2));
    expect(await storedLook(shop.id)).toEqual({ accent: null, logo: null });
    expect((await owner.get(`${path}/checkout/logo.png`)).status).toBe(404);
  });

  it('a file that cannot become a logo is named, and changes nothing', async () => {
    const developer = await signedIn('developer');
    const wide = Buffer.from(png);
    wide.writeUInt32BE(60_000, 16);
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    for (const [name, file, error] of [
      ['nothing', Buffer.alloc(0), look.errors.missing],
      ['an SVG', svg, look.errors.no_image],
      ['half an image', png.subarray(0, png.length / 2), look.errors.no_image],
      ['too many pixels', wide, look.errors.too_many_pixels],
      ['201 kB', Buffer.concat([png, randomBytes(201 * 1_024 - png.length)]), look.errors.too_large],
      ['a photo of 2 MB', randomBytes(2 * 1_024 * 1_024), look.errors.too_large],
    ] as const) {
      const { status, body } = await developer.upload(`${path}/checkout/logo`, 'logo', file);
      expect([name, status, body.includes(`<a href="#logo">${error}</a>`)]).toEqual([name, 422, true]);
    }
    const unencoded = await developer.post(`${path}/checkout/logo`, [['logo', 'logo.png']]);
    expect([unencoded.status, unencoded.body.includes(look.errors.missing)]).toEqual([422, true]);
    expect(await storedLook(shop.id)).toEqual({ accent: null, logo: null });
  });

  it('a merchant may upload ten times an hour, and then the page shows when again', async () => {
    const busy = await createShop(service.db);
    const [owner, developer] = [await signedIn('owner', busy.id), await signedIn('developer', busy.id)];
    const upload = (browser: HttpBrowser) => browser.upload(`/m/${busy.code}/settings/checkout/logo`, 'logo', png);
    for (let count = 1; count <= 10; count += 1) {
      expect([count, (await upload(count % 2 === 0 ? owner : developer)).status]).toEqual([count, 303]);
    }
    const english = await upload(owner);
    expect([english.status, Number(english.headers['retry-after']) > 3_000]).toEqual([429, true]);
    expect(english.body).toMatch(/You can try again in (5\d|60) minutes\./);
    await service.db.query("update users set language = 'id'");
    const translated = await upload(developer);
    expect([translated.status, translated.body]).toEqual([
      429,
      expect.stringMatching(/coba lagi dalam (5\d|60) menit\./),
    ]);
    const other = await createShop(service.db);
    const outside = await signedIn('owner', other.id);
    expect((await outside.upload(`/m/${other.code}/settings/checkout/logo`, 'logo', png)).status).toBe(303);
  });

  it('needs the role, a form of the same site, and a proof of identity', async () => {
    const finance = await signedIn('finance');
    expect((await finance.get(path)).body).not.toContain(`href="${path}/checkout"`);
    expect((await finance.get(`${path}/checkout`)).status).toBe(403);
    expect((await finance.upload(`${path}/checkout/logo`, 'logo', png)).status).toBe(403);
    const owner = await signedIn('owner');
    expect(
      (await owner.post(`${path}/checkout`, [['accent', '#ff6600']], { 'sec-fetch-site': 'cross-site' })).status,
    ).toBe(403);
    await service.db.query("update sessions set method = 'password', stepped_up_at = now() - interval '1 hour'");
    expect((await owner.get(`${path}/checkout`)).location).toMatch(/^\/step-up\?then=/);
    expect((await owner.upload(`${path}/checkout/logo`, 'logo', png)).location).toMatch(/^\/step-up\?then=/);
    expect(await storedLook(shop.id)).toEqual({ accent: null, logo: null });
  });
});

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { inflateRawSync } from 'node:zlib';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { PLUGIN, readPlugin } from './gettext';

const read = (name: string) => readFileSync(path.join(PLUGIN, name), 'utf8');

describe('the plugin for WooCommerce', () => {
  const main = read('lunas-qris-for-woocommerce.php');
  const readme = read('readme.txt');

  it('the readme and the header name the same versions and the licence', () => {
    const [, version] = /^ \* Version: (.+)$/m.exec(main) ?? [];
    expect(main).toContain(`define( 'LUNAS_QRIS_VERSION', '${version}' );`);
    expect(readme).toContain(`Stable tag: ${version}\n`);
    for (const name of ['Requires at least', 'Requires PHP']) {
      const [line = ''] = new RegExp(`${name}: .+`).exec(main) ?? [];
      expect(readme).toContain(`${line}\n`);
    }
    for (const text of [main, readme]) expect(text).toMatch(/^(?: \* )?License: GPL-2\.0-or-later$/m);
    expect(read('LICENSE')).toMatch(/GNU GENERAL PUBLIC LICENSE\s+Version 2, June 1991/);
  });

  it('the readme quotes what the settings page shows', () => {
    const texts = readPlugin().join('');
    for (const text of [
      'Webhook address',
      'Address of Lunas',
      'Secret key',
      'Webhook secret',
      'Lunas accepts the key.',
    ]) {
      expect([readme.includes(text), texts.includes(`'${text}'`)]).toEqual([true, true]);
    }
  });

  it('the readme quotes what the dashboard shows', () => {
    for (const [file, labels] of [
      ['texts/en.ts', ['Developers', 'Keys', 'Webhooks', 'Settings']],
      [
        'keys/key-texts.ts',
        [
          'New key',
          'Read payments',
          'Create payments',
          'Cancel payments',
          'Refund payments',
          'Create key',
          'Address of Lunas',
        ],
      ],
      ['webhooks/webhook-texts.ts', ['New endpoint', 'Create endpoint', 'Late payments']],
      ['settings/settings-texts.ts', ['Change', 'Addresses of your shops']],
    ] as const) {
      const texts = readFileSync(path.join(PACKAGE_ROOT, 'src', 'web', 'dashboard', file), 'utf8');
      const words = readme.replaceAll(/\s+/g, ' ');
      const quoted = labels.filter((label) => texts.includes(`'${label}'`) && words.includes(label));
      expect(quoted).toEqual(labels);
    }
  });

  it('the readme quotes what the phone of the sandbox shows', () => {
    const phone = readFileSync(path.join(PACKAGE_ROOT, 'src', 'sandbox', 'phone-page.ts'), 'utf8');
    for (const label of ['Scan this one', 'Pay'])
      expect([phone, readme].map((text) => text.includes(label))).toEqual([true, true]);
  });

  it('each file rejects a direct request, and indents by tabs', () => {
    const guard = /^defined\( '(?:ABSPATH|WP_UNINSTALL_PLUGIN)' \) \|\| exit;$/m;
    for (const source of readPlugin()) {
      expect(source).toMatch(guard);
      expect(source).not.toMatch(/^ {2}/m);
    }
  });
});

describe('the script of the checkout block', () => {
  const script = read('assets/checkout-block.js');
  const settings = { title: 'QRIS &amp; more', description: 'Scan', maximum: 10_000_000 };

  interface Method {
    readonly name: string;
    readonly ariaLabel: string;
    canMakePayment(cart: { readonly cartTotals: object }): boolean;
  }

  const registered: Method[] = [];
  runInNewContext(script, {
    window: {
      wc: {
        wcBlocksRegistry: { registerPaymentMethod: (method: Method) => registered.push(method) },
        wcSettings: { getSetting: (name: string) => (name === 'lunas_qris_data' ? settings : {}) },
      },
      wp: {
        element: { createElement: (...args: readonly unknown[]) => args },
        htmlEntities: { decodeEntities: (text: string) => text.replace('&amp;', '&') },
      },
    },
  });

  it('the method has the name of the gateway, and the script at most 4 kB', () => {
    expect(registered.map(({ name, ariaLabel }) => [name, ariaLabel])).toEqual([['lunas_qris', 'QRIS & more']]);
    expect(Buffer.byteLength(script)).toBeLessThanOrEqual(4_096);
  });

  it.each([
    ['IDR', '50000', 0, true],
    ['IDR', '10000000', 0, true],
    ['IDR', '10000001', 0, false],
    ['IDR', '0', 0, false],
    ['IDR', '5000000', 2, true],
    ['IDR', '5000050', 2, false],
    ['USD', '50000', 0, false],
  ])(
    'a cart of %s %s with %i decimals can be paid: %s',
    (currency_code, total_price, currency_minor_unit, isPayable) => {
      const cartTotals = { currency_code, total_price, currency_minor_unit };
      expect(registered[0]?.canMakePayment({ cartTotals })).toBe(isPayable);
    },
  );
});

describe('npm run woocommerce:zip', () => {
  it('packs every file of the plugin, and nothing else', () => {
    const file = execFileSync('node', [path.join(PACKAGE_ROOT, 'scripts', 'woocommerce-zip.mjs')], {
      encoding: 'utf8',
    });
    const names = readdirSync(PLUGIN, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(path.dirname(PLUGIN), path.join(entry.parentPath, entry.name)));
    const packed = unzip(readFileSync(file.trim()));
    expect([...packed.keys()].toSorted()).toEqual(names.toSorted());
    for (const [name, content] of packed) {
      expect(content.equals(readFileSync(path.join(path.dirname(PLUGIN), name)))).toBe(true);
    }
  });
});

/** The files of an archive, by the local header of each. */
function unzip(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let offset = 0;
  while (archive.readUInt32LE(offset) === 0x04_03_4b_50) {
    const [bytes, nameBytes] = [archive.readUInt32LE(offset + 18), archive.readUInt16LE(offset + 26)];
    const content = offset + 30 + nameBytes;
    files.set(
      archive.toString('utf8', offset + 30, content),
      inflateRawSync(archive.subarray(content, content + bytes)),
    );
    offset = content + bytes;
  }
  return files;
}

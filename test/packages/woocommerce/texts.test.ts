import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  compileCatalogue,
  countCalls,
  countTexts,
  findTexts,
  parseCatalogue,
  PLUGIN,
  readPlugin,
  writeCatalogue,
  type Catalogue,
} from './gettext';

const fileOf = (name: string) => path.join(PLUGIN, 'languages', `lunas-qris-for-woocommerce${name}`);
const read = (name: string): Catalogue => parseCatalogue(readFileSync(fileOf(name), 'utf8'));
const placeholders = (text: string) => [...text.matchAll(/%(?:\d+\$)?[sd]/g)].map(([match]) => match).toSorted();

const sources = readPlugin();
const texts = findTexts(sources);

if (process.env.UPDATE_WOOCOMMERCE_TEXTS) {
  const indonesian = read('-id_ID.po');
  const template = { header: read('.pot').header, texts: new Map(texts.map((text) => [text, ''])) };
  const translated = {
    header: indonesian.header,
    texts: new Map(texts.map((text) => [text, indonesian.texts.get(text) ?? ''])),
  };
  writeFileSync(fileOf('.pot'), writeCatalogue(template));
  writeFileSync(fileOf('-id_ID.po'), writeCatalogue(translated));
  writeFileSync(fileOf('-id_ID.mo'), compileCatalogue(translated));
}

describe('the texts of the plugin for WooCommerce', () => {
  it('each call has one text in single quotes and the domain of the plugin', () => {
    expect(texts.length).toBeGreaterThan(60);
    expect(countTexts(sources)).toBe(countCalls(sources));
  });

  it('the template and the Indonesian catalogue have each of them, and no other', () => {
    expect([...read('.pot').texts.keys()]).toEqual(texts);
    expect([...read('-id_ID.po').texts.keys()]).toEqual(texts);
  });

  it('each has an Indonesian text with the same placeholders', () => {
    for (const [english, indonesian] of read('-id_ID.po').texts) {
      expect([english, indonesian]).toEqual([english, expect.stringMatching(/\S/)]);
      expect([english, placeholders(indonesian)]).toEqual([english, placeholders(english)]);
    }
  });

  it('the file that WordPress reads is compiled from the catalogue', () => {
    expect(readFileSync(fileOf('-id_ID.mo')).equals(compileCatalogue(read('-id_ID.po')))).toBe(true);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../../src/package-info';

export const PLUGIN = path.join(PACKAGE_ROOT, 'packages', 'woocommerce', 'lunas-qris-for-woocommerce');
const DOMAIN = 'lunas-qris-for-woocommerce';

const CALL = new RegExp(String.raw`\b(?:esc_html)?__\(\s*'((?:[^'\\]|\\.)*)',\s*'${DOMAIN}'\s*\)`, 'g');
const ANY_CALL = /\b(?:esc_html|esc_attr)?_[_ex]\(/g;
const ENTRY = /^msgid "(?<id>.*)"\nmsgstr "(?<text>.*)"$/gm;

export interface Catalogue {
  readonly header: string;
  /** By the English text. */
  readonly texts: ReadonlyMap<string, string>;
}

/** The PHP files of the plugin. */
export function readPlugin(): string[] {
  const inDirectory = (directory: string) =>
    readdirSync(directory)
      .filter((name) => name.endsWith('.php'))
      .toSorted()
      .map((name) => readFileSync(path.join(directory, name), 'utf8'));
  return [...inDirectory(PLUGIN), ...inDirectory(path.join(PLUGIN, 'src'))];
}

/** The English texts of the plugin, in the order of their files. */
export function findTexts(sources: readonly string[]): string[] {
  const found = sources.flatMap((source) =>
    [...source.matchAll(CALL)].map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1')),
  );
  return [...new Set(found)];
}

/** The number of calls, which is that of the texts if each has the form that {@link findTexts} reads. */
export const countCalls = (sources: readonly string[]): number =>
  sources.reduce((total, source) => total + [...source.matchAll(ANY_CALL)].length, 0);

export const countTexts = (sources: readonly string[]): number =>
  sources.reduce((total, source) => total + [...source.matchAll(CALL)].length, 0);

const quote = (text: string) => JSON.stringify(text);
const unquote = (text: string): string => String(JSON.parse(`"${text}"`));

/** Reads a catalogue in which each text has one line, as {@link writeCatalogue} writes it. */
export function parseCatalogue(source: string): Catalogue {
  const entries = [...source.matchAll(ENTRY)].map(
    ({ groups }) => [unquote(groups?.['id'] ?? ''), unquote(groups?.['text'] ?? '')] as const,
  );
  const [, header = ''] = entries.find(([id]) => id === '') ?? [];
  return { header, texts: new Map(entries.filter(([id]) => id !== '')) };
}

export function writeCatalogue({ header, texts }: Catalogue): string {
  return [['', header] as const, ...texts]
    .map(([id, text]) => `msgid ${quote(id)}\nmsgstr ${quote(text)}\n`)
    .join('\n');
}

const MAGIC = 0x95_04_12_de;
const HEADER_BYTES = 28;

/** The binary form that WordPress reads (GNU gettext, "The Format of GNU MO Files"), without a hash table. */
export function compileCatalogue({ header, texts }: Catalogue): Buffer {
  const entries = [['', header] as const, ...texts]
    .map(([id, text]) => [Buffer.from(id), Buffer.from(text)] as const)
    .toSorted(([one], [other]) => Buffer.compare(one, other));
  const tableBytes = 8 * entries.length;
  const start = HEADER_BYTES + 2 * tableBytes;
  const words = [MAGIC, 0, entries.length, HEADER_BYTES, HEADER_BYTES + tableBytes, 0, start];
  const strings: Buffer[] = [];
  let offset = start;
  for (const column of [0, 1] as const) {
    for (const entry of entries) {
      const text = entry[column];
      words.push(text.length, offset);
      strings.push(text, Buffer.alloc(1));
      offset += text.length + 1;
    }
  }
  const numbers = Buffer.alloc(4 * words.length);
  for (const [index, word] of words.entries()) numbers.writeUInt32LE(word, 4 * index);
  return Buffer.concat([numbers, ...strings]);
}

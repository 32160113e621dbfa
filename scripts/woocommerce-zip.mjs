// `npm run woocommerce:zip` writes the plugin for WooCommerce as the file that WordPress installs, and prints its path.
// The same files give the same bytes.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, deflateRawSync } from 'node:zlib';

const PACKAGE = fileURLToPath(new URL('../packages/woocommerce', import.meta.url));
const NAME = 'lunas-qris-for-woocommerce';
/** 1 January 2026, as MS-DOS has it. */
const DATE = ((2026 - 1980) << 9) | (1 << 5) | 1;
const VERSION = 20;
const DEFLATE = 8;
/** A name is UTF-8. */
const FLAGS = 0x0800;

/** The fields of a number of bytes each, little-endian (PKWARE, APPNOTE.TXT 4.3). */
function pack(...fields) {
  const bytes = Buffer.alloc(fields.reduce((total, [size]) => total + size, 0));
  let offset = 0;
  for (const [size, value] of fields) offset = bytes.writeUIntLE(value, offset, size);
  return bytes;
}

function entryOf(name, content) {
  const packed = deflateRawSync(content);
  const common = [
    [2, VERSION],
    [2, FLAGS],
    [2, DEFLATE],
    [2, 0],
    [2, DATE],
    [4, crc32(content)],
    [4, packed.length],
    [4, content.length],
    [2, Buffer.byteLength(name)],
    [2, 0],
  ];
  return { name: Buffer.from(name), packed, common };
}

/** A zip archive of the files, by name. */
function zip(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, packed, common } of files) {
    const local = Buffer.concat([pack([4, 0x04_03_4b_50], ...common), name, packed]);
    const rest = pack([2, 0], [2, 0], [2, 0], [4, 0], [4, offset]);
    directory.push(pack([4, 0x02_01_4b_50], [2, VERSION], ...common), rest, name);
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const counts = [
    [2, files.length],
    [2, files.length],
  ];
  const end = pack([4, 0x06_05_4b_50], [2, 0], [2, 0], ...counts, [4, central.length], [4, offset], [2, 0]);
  return Buffer.concat([...parts, central, end]);
}

const root = path.join(PACKAGE, NAME);
const found = await readdir(root, { recursive: true, withFileTypes: true });
const names = found
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(PACKAGE, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
  .sort();
const files = await Promise.all(names.map(async (name) => entryOf(name, await readFile(path.join(PACKAGE, name)))));
const target = path.join(PACKAGE, 'dist', `${NAME}.zip`);
await mkdir(path.dirname(target), { recursive: true });
await writeFile(target, zip(files));
console.log(target);

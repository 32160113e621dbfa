import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../package-info';

const DIRECTORY = path.join(PACKAGE_ROOT, 'src', 'web', 'checkout', 'files');

interface PageFile {
  readonly contentType: string;
  readonly content: Buffer;
}

/** By the name in its address, which contains a hash of the content: caches may keep it forever. */
const files = new Map<string, PageFile>();

/** @returns the address of a file in `files/` */
function publish(name: string, contentType: string): string {
  const content = readFileSync(path.join(DIRECTORY, name));
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const published = name.replace('.', `-${hash}.`);
  files.set(published, { contentType, content });
  return `/checkout/${published}`;
}

export const STYLE_ADDRESS = publish('checkout.css', 'text/css; charset=utf-8');
export const SCRIPT_ADDRESS = publish('checkout.js', 'text/javascript; charset=utf-8');
export const ICON_ADDRESS = publish('icon.svg', 'image/svg+xml');

/** A file that the page loads, by the last part of its address. */
export function findCheckoutFile(name: string): PageFile | undefined {
  return files.get(name);
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../package-info';

export interface PublishedFile {
  readonly contentType: string;
  readonly content: Buffer;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Where `tokens.css` is, which each style sheet begins with. */
export const UI_FILES = 'src/web/ui/files';

/** The files that pages load. Their names contain a hash of the content: caches may keep them forever. */
export class PublishedFiles {
  readonly #files = new Map<string, PublishedFile>();

  /** @param address of the directory, with a slash at its end */
  constructor(private readonly address: string) {}

  /**
   * @param sources paths in the package, or absolute ones; the file is their contents, one after the other
   * @returns the address of the file
   */
  publish(name: string, ...sources: readonly string[]): string {
    const text = sources.map((source) => readFileSync(path.resolve(PACKAGE_ROOT, source), 'utf8')).join('');
    const extension = path.extname(name);
    const content = Buffer.from(extension === '.css' ? shorten(text) : text);
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
    const published = name.replace('.', `-${hash}.`);
    const contentType = CONTENT_TYPES[extension] ?? 'application/octet-stream';
    this.#files.set(published, { contentType, content });
    return this.address + published;
  }

  /** @param name the last part of its address */
  find(name: string): PublishedFile | undefined {
    return this.#files.get(name);
  }
}

/** A style sheet without comments and indentation: a tenth of its bytes. */
function shorten(styleSheet: string): string {
  return styleSheet.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\n\s+/g, '\n');
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../package-info';
import { FONT_FAMILY, fontFile } from '../../qris/font';

export interface PublishedFile {
  readonly contentType: string;
  readonly content: Buffer;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** In the style sheets, 500 is the first of them, and 650 the last. */
const FONT_WEIGHTS = [400, 600, 700] as const;

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
    return this.#add(name, read(sources));
  }

  /** A style sheet as `publish`, for what is inside the selector only. */
  publishInside(selector: string, name: string, source: string): string {
    return this.#add(name, Buffer.from(`${selector}{${read([source]).toString()}}`));
  }

  /** A style sheet with the typeface, as `publish`, and the fonts beside it. */
  publishStyle(name: string, ...sources: readonly string[]): { readonly style: string; readonly fonts: string[] } {
    const fonts = FONT_WEIGHTS.map((weight) =>
      this.publish(`plus-jakarta-sans-${weight}.woff2`, fontFile('latin', weight)),
    );
    const faces = FONT_WEIGHTS.map((weight, index) => fontFace(weight, path.basename(fonts[index] ?? '')));
    return { style: this.#add(name, Buffer.concat([Buffer.from(faces.join('')), read(sources)])), fonts };
  }

  #add(name: string, source: Buffer): string {
    const extension = path.extname(name);
    const shorten = SHORTENING[extension];
    const content = shorten === undefined ? source : Buffer.from(shorten(source.toString()));
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

function read(sources: readonly string[]): Buffer {
  return Buffer.concat(sources.map((source) => readFileSync(path.resolve(PACKAGE_ROOT, source))));
}

/**
 * A browser that does not have the font a moment after the page shows this page without it: nothing moves. The page
 * has a `preload` of each.
 */
function fontFace(weight: number, file: string): string {
  return `@font-face{font-family:'${FONT_FAMILY}';font-weight:${weight};font-display:optional;src:url(${file})}\n`;
}

/** A style sheet without comments and the spaces that mean nothing: a quarter of its bytes. */
function shortenStyle(styleSheet: string): string {
  return styleSheet
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .replaceAll(/(?<=[{;])([a-z-]+): /g, '$1:')
    .replaceAll(';}', '}');
}

/** A script without comments on lines of their own and indentation: no script has a text of several lines. */
export function shortenScript(script: string): string {
  return script.replaceAll(/^ *(?:\/\/[^\n]*|\/\*.*?\*\/)\n/gms, '').replaceAll(/\n\s+/g, '\n');
}

const SHORTENING: Readonly<Record<string, (text: string) => string>> = { '.css': shortenStyle, '.js': shortenScript };

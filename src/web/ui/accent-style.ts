import { createHash } from 'node:crypto';
import { readColour, shadesOf, textOn, type Shade } from '../../domain/accent';
import type { PublishedFile } from './published-files';

const NAME = /^accent-([\da-f]+)-([\da-f]{6})\.css$/;

/** Light, dark and grey ones: a change of the derivation changes the style sheet of one of them. */
const REFERENCES = ['#000000', '#ffffff', '#808080', '#ffd500', '#0b1f4b'];

/**
 * The style sheet of each colour: it replaces variables of `tokens.css`. The names contain a hash of the derivation:
 * caches may keep the files forever.
 */
export class AccentStyles {
  /** What stands before the six digits of the colour in an address. */
  readonly prefix: string;
  readonly #hash: string;

  /**
   * @param address of the directory, with a slash at its end
   * @param scope the selector of what has the colour
   */
  constructor(
    address: string,
    private readonly scope: string,
  ) {
    const styles = REFERENCES.map((accent) => styleOf(accent, scope)).join('\n');
    this.#hash = createHash('sha256').update(styles).digest('hex').slice(0, 16);
    this.prefix = `${address}accent-${this.#hash}-`;
  }

  /** @param accent `#rrggbb` */
  address(accent: string): string {
    return `${this.prefix}${accent.slice(1)}.css`;
  }

  /** @param name the last part of the address; undefined if it names no colour, or another derivation */
  find(name: string): PublishedFile | undefined {
    const [, hash, digits = ''] = NAME.exec(name) ?? [];
    const accent = readColour(digits);
    if (accent === undefined || hash !== this.#hash) return undefined;
    return { contentType: 'text/css; charset=utf-8', content: Buffer.from(styleOf(accent, this.scope)) };
  }
}

function styleOf(accent: string, scope: string): string {
  const { light, dark } = shadesOf(accent);
  const both = (part: keyof Shade) => `light-dark(${light[part]},${dark[part]})`;
  const variables = {
    '--accent': accent,
    '--on-accent': textOn(accent),
    '--accent-edge': both('edge'),
    '--accent-text': both('text'),
    '--accent-strip': '6px',
  };
  const rules = Object.entries(variables).map((variable) => variable.join(':'));
  return `${scope}{${rules.join(';')}}`;
}

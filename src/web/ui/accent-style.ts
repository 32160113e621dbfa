import { readColour, shadesOf, type Shade } from '../../domain/accent';
import type { PublishedFile } from './published-files';

const NAME = /^accent-([\da-f]{6})\.css$/;

/** The last part of the address of a colour's style sheet. Caches may keep it forever. */
export const accentFileName = (accent: string) => `accent-${accent.slice(1)}.css`;

/**
 * The style sheet of this name; undefined if it names no colour. It replaces variables of `tokens.css`.
 * @param scope the selector of what has the colour
 */
export function findAccentFile(name: string, scope: string): PublishedFile | undefined {
  const accent = readColour(NAME.exec(name)?.[1] ?? '');
  if (accent === undefined) return undefined;
  const { light, dark } = shadesOf(accent);
  const both = (part: keyof Shade) => `light-dark(${light[part]},${dark[part]})`;
  const variables = {
    '--accent': both('surface'),
    '--on-accent': both('onSurface'),
    '--accent-text': both('text'),
    '--accent-strip': '6px',
  };
  const rules = Object.entries(variables).map((variable) => variable.join(':'));
  return { contentType: 'text/css; charset=utf-8', content: Buffer.from(`${scope}{${rules.join(';')}}`) };
}

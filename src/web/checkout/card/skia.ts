import { FONT_FAMILY, fontFile } from '../../../qris/font';

/** Skia with the Latin letters of the font. */
async function load() {
  const skia = await import('@napi-rs/canvas');
  for (const part of ['latin', 'latin-ext'] as const) {
    for (const weight of [400, 600, 700] as const) {
      skia.GlobalFonts.registerFromPath(fontFile(part, weight), FONT_FAMILY);
    }
  }
  return skia;
}

export type Skia = Awaited<ReturnType<typeof load>>;

let loaded: Promise<Skia> | undefined;

/** Skia is loaded with the first card: it takes memory, and most dashboards draw none. */
export function loadSkia(): Promise<Skia> {
  return (loaded ??= load());
}

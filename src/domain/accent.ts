/** A colour as pages write it: `#` and six hexadecimal digits in lower case. */
const COLOUR = /^#[\da-f]{6}$/;

/** The colour that a person has typed, with or without `#`; undefined if it is none. */
export function readColour(text: string): string | undefined {
  const colour = `#${text.trim().replace(/^#/, '').toLowerCase()}`;
  return COLOUR.test(colour) ? colour : undefined;
}

/** What `tokens.css` has behind buttons and links: the page and its cards. */
export const BACKGROUNDS = { light: ['#f4f6f5', '#ffffff'], dark: ['#111513', '#1a201d'] } as const;

/** The limits of WCAG 2.2: criterion 1.4.11 for the edge of a button, 1.4.3 for text. */
export const CONTRAST_LIMITS = { edge: 3, text: 4.5 } as const;

const BLACK = '#000000';
const WHITE = '#ffffff';
/** Where a colour goes that is too near to the background. */
const AWAY = { light: BLACK, dark: WHITE } as const;

type Scheme = keyof typeof BACKGROUNDS;

/** What stands beside a merchant's colour in one scheme. */
export interface Shade {
  /** Around a button, whose face is the colour itself. */
  readonly edge: string;
  /** The colour of a link. */
  readonly text: string;
}

/** The colour itself where it can be seen and read, else the nearest shade that can. */
export function shadesOf(colour: string): Readonly<Record<Scheme, Shade>> {
  return { light: shadeIn('light', colour), dark: shadeIn('dark', colour) };
}

function shadeIn(scheme: Scheme, colour: string): Shade {
  return {
    edge: nearestShade(scheme, colour, CONTRAST_LIMITS.edge),
    text: nearestShade(scheme, colour, CONTRAST_LIMITS.text),
  };
}

/** Text on the colour is white if that can be read, else black. */
export const textOn = (colour: string) => (contrast(colour, WHITE) >= CONTRAST_LIMITS.text ? WHITE : BLACK);

const STEPS = 100;

function nearestShade(scheme: Scheme, colour: string, limit: number): string {
  const isVisible = (shade: string) => BACKGROUNDS[scheme].every((background) => contrast(shade, background) >= limit);
  for (let step = 0; step < STEPS; step += 1) {
    const shade = mix(colour, AWAY[scheme], step / STEPS);
    if (isVisible(shade)) return shade;
  }
  return AWAY[scheme];
}

/** @param part of the second colour */
function mix(first: string, second: string, part: number): string {
  const others = channelsOf(second);
  const mixed = channelsOf(first).map((value, index) => Math.round(value + ((others[index] ?? 0) - value) * part));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function channelsOf(colour: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
}

/** The contrast ratio of two colours: 1 to 21. Source: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
export function contrast(first: string, second: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(first), luminanceOf(second)].sort((one, other) => one - other);
  return (lighter + 0.05) / (darker + 0.05);
}

const WEIGHTS = [0.2126, 0.7152, 0.0722] as const;

function luminanceOf(colour: string): number {
  const parts = channelsOf(colour).map((value, index) => linear(value / 255) * (WEIGHTS[index] ?? 0));
  return parts.reduce((sum, part) => sum + part, 0);
}

const linear = (value: number) => (value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

import { readFileSync } from 'node:fs';
import { assert, integer, property } from 'fast-check';
import { BACKGROUNDS, contrast, CONTRAST_LIMITS, readColour, shadesOf, textOn } from '../../src/domain/accent';

const SCHEMES = ['light', 'dark'] as const;
const colours = integer({ min: 0, max: 0xff_ff_ff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

it('every colour has shades that can be seen and read in both schemes', () => {
  assert(
    property(colours, (colour) => {
      const shades = shadesOf(colour);
      expect(contrast(colour, textOn(colour))).toBeGreaterThanOrEqual(CONTRAST_LIMITS.text);
      for (const scheme of SCHEMES) {
        const { edge, text } = shades[scheme];
        for (const background of BACKGROUNDS[scheme]) {
          expect(contrast(edge, background)).toBeGreaterThanOrEqual(CONTRAST_LIMITS.edge);
          expect(contrast(text, background)).toBeGreaterThanOrEqual(CONTRAST_LIMITS.text);
        }
        for (const shade of [edge, text]) expect(readColour(shade)).toBe(shade);
      }
    }),
    {
      numRuns: 200,
      examples: [['#000000'], ['#ffffff'], ['#ffff00'], ['#0000ff'], ['#767676'], ['#757575'], ['#1a201d']],
    },
  );
});

it.each([
  ['#0b6b4b', '#ffffff', { light: { edge: '#0b6b4b', text: '#0b6b4b' } }],
  ['#ff5a00', '#000000', { dark: { edge: '#ff5a00', text: '#ff5a00' } }],
  ['#ffffff', '#000000', { dark: { edge: '#ffffff', text: '#ffffff' } }],
])('%s: keeps the colour where it has enough contrast, with the text %s on it', (colour, text, expected) => {
  expect(shadesOf(colour)).toMatchObject(expected);
  expect(textOn(colour)).toBe(text);
});

it('the contrast of two colours is that of WCAG', () => {
  expect(contrast('#ffffff', '#000000')).toBeCloseTo(21, 5);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.478, 2);
});

it('knows the backgrounds of the style sheet', () => {
  const tokens = readFileSync('src/web/ui/files/tokens.css', 'utf8');
  const found = ['page', 'card'].map((name) => new RegExp(`--${name}: light-dark\\((\\S+), (\\S+)\\)`).exec(tokens));
  expect(found.map((match) => match?.[1])).toEqual(BACKGROUNDS.light);
  expect(found.map((match) => match?.[2])).toEqual(BACKGROUNDS.dark);
});

it.each([
  ['#FF6600', '#ff6600'],
  [' ff6600 ', '#ff6600'],
  ['#f60', undefined],
  ['#ff66000', undefined],
  ['##ff6600', undefined],
  ['red', undefined],
  ['#ff660g', undefined],
  ['url(//x)', undefined],
])('the text "%s" is the colour %s', (text, colour) => expect(readColour(text)).toBe(colour));

import { drawText } from '../../src/qris/bitmap-text';

/** Rows of `#` and spaces. */
function shown(rows: readonly Buffer[]): string[] {
  return rows.map((row) =>
    [...row]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('')
      .replaceAll('1', ' ')
      .replaceAll('0', '#'),
  );
}

describe('drawText', () => {
  it('draws a character of five columns, centred', () => {
    expect(shown(drawText({ text: 'R', scale: 1 }, 1)).slice(0, 8)).toEqual([
      ' ####   ',
      ' #   #  ',
      ' #   #  ',
      ' ####   ',
      ' # #    ',
      ' #  #   ',
      ' #   #  ',
      '        ',
    ]);
  });

  it('enlarges the dots, as far as the line fits', () => {
    const [small, large] = [1, 3].map((scale) => drawText({ text: 'AB', scale }, 5));
    expect([small?.length, large?.length]).toEqual([18, 34]);
    expect(drawText({ text: 'ABCDEF', scale: 3 }, 5)).toHaveLength(18);
  });

  it('drops accents and shows other characters as ?', () => {
    expect(drawText({ text: 'é日\u00a0', scale: 1 }, 4)).toEqual(drawText({ text: 'e? ', scale: 1 }, 4));
  });

  it('cuts a line that is too long', () => {
    expect(drawText({ text: 'A'.repeat(100), scale: 1 }, 3)).toEqual(drawText({ text: 'AAAA', scale: 1 }, 3));
  });

  it('draws nothing for an empty text', () => {
    expect(
      shown(drawText({ text: '', scale: 2 }, 2))
        .join('')
        .trim(),
    ).toBe('');
  });
});

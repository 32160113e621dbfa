import { formatFields, formatJson, formatTable } from '../../src/cli/output';

it('prints one JSON document with keys in snake case and timestamps in UTC', () => {
  const text = formatJson({
    merchant: { feePayer: 'buyer', createdAt: new Date(0), keys: [{ lastFour: 'aBcD' }], revokedAt: null },
  });
  expect(text.endsWith('}\n')).toBe(true);
  expect(JSON.parse(text)).toEqual({
    merchant: {
      fee_payer: 'buyer',
      created_at: '1970-01-01T00:00:00.000Z',
      keys: [{ last_four: 'aBcD' }],
      revoked_at: null,
    },
  });
});

it('aligns columns under their headings', () => {
  const rows = [
    { NAME: 'Toko Maju', ATTEMPTS: 0, PROVIDERS: ['gopay', 'shopeepay'] },
    { NAME: '', ATTEMPTS: 12, PROVIDERS: [] },
  ];
  expect(formatTable(rows, 'none').split('\n')).toEqual([
    'NAME       ATTEMPTS  PROVIDERS',
    'Toko Maju  0         gopay, shopeepay',
    '-          12        -',
  ]);
  expect(formatTable([], 'none')).toBe('none');
});

// East Asian characters and emoji take two columns of a terminal, a combining accent takes none.
it.each([
  ['東京商店', ['NAME      STATUS', '東京商店  approved', 'Warung    approved']],
  ['Toko 🍜', ['NAME     STATUS', 'Toko 🍜  approved', 'Warung   approved']],
  ['Cafe\u0301', ['NAME    STATUS', 'Cafe\u0301    approved', 'Warung  approved']],
])('aligns the columns after %s', (name, lines) => {
  const rows = [name, 'Warung'].map((NAME) => ({ NAME, STATUS: 'approved' }));
  expect(formatTable(rows, '').split('\n')).toEqual(lines);
});

it('replaces the control characters of a name', () => {
  expect(formatFields({ Name: 'Toko\u001B[2J\nMaju\u202E' })).toBe('Name  Toko�[2J�Maju�');
});

import { formatFields, formatJson, formatTable } from '../../src/cli/output';

it('prints one JSON document with keys in snake case and instants in UTC', () => {
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
    { name: 'Toko Maju', providers: ['gopay', 'shopeepay'], attempts: 0 },
    { name: '', providers: [], attempts: 12 },
  ];
  const columns = {
    NAME: (row: (typeof rows)[number]) => row.name,
    ATTEMPTS: (row: (typeof rows)[number]) => row.attempts,
    PROVIDERS: (row: (typeof rows)[number]) => row.providers,
  };
  expect(formatTable(rows, columns, 'none').split('\n')).toEqual([
    'NAME       ATTEMPTS  PROVIDERS',
    'Toko Maju  0         gopay, shopeepay',
    '-          12        -',
  ]);
  expect(formatTable([], columns, 'none')).toBe('none');
});

it('lets no control character of a name through to the terminal', () => {
  expect(formatFields({ Name: 'Toko\u001B[2J\nMaju\u202E' })).toBe('Name  Toko�[2J�Maju�');
});

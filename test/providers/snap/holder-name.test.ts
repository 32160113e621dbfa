import * as fc from 'fast-check';
import { nameFor } from '../../../src/providers/snap/holder-name';
import { PAYOUT_PROFILES } from '../../../src/providers/snap/payout-profiles';

const PROFILE = PAYOUT_PROFILES.midtrans;

it.each([
  ["H. MUH. ARI'F, S.KOM", 'H MUH ARI F S KOM'],
  ['TOKO DEMO LUNAS', 'TOKO DEMO LUNAS'],
  ['  José  Müller-Ñu\u0301\n', 'Jose Muller Nu'],
  ['ＰＴ Ｍａｊｕ', 'PT Maju'],
  ['PT A & B / C', 'PT A B C'],
  ['王小明', ''],
  ['A'.repeat(80), 'A'.repeat(70)],
  [`${'A'.repeat(69)}, B`, 'A'.repeat(69)],
])('%j is sent as %j', (name, expected) => {
  expect(nameFor(PROFILE, name)).toBe(expected);
});

it('each name is sent in the characters that the bank accepts, and an accepted one unchanged', () => {
  const property = fc.property(fc.string({ unit: 'binary' }), (name) => {
    const sent = nameFor(PROFILE, name);
    return /^(?:[A-Za-z0-9]+(?: [A-Za-z0-9]+)*)?$/.test(sent) && sent.length <= 70 && nameFor(PROFILE, sent) === sent;
  });
  expect(fc.check(property)).toMatchObject({ failed: false });
});

import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { IdentityCard, type ShownIdentity } from '../../../../src/web/dashboard/settings/identity-card';

const IDENTITY: ShownIdentity = {
  tradingName: 'Kopi Kita',
  class: 'UKE',
  nmid: 'ID1020000000017',
  validUntil: '2030-01-31',
  details: { legalName: 'PT Kopi Kita', address: 'Jalan Satu, Bandung', taxNumberEnd: '6789' },
};
const NAMES = [{ provider: 'gopay', names: ['Kopi Kita'] }] as const;
const cardOf = (identity: ShownIdentity | null, language: 'id' | 'en' = 'en') =>
  renderToStaticMarkup(createElement(IdentityCard, { language, identity, shownNames: NAMES }));

it('the card has the identity, and the details for members who may see them', () => {
  const all = cardOf(IDENTITY);
  for (const text of ['Kopi Kita', 'Small (UKE)', 'ID1020000000017', '31 Jan 2030', 'PT Kopi Kita', '… 6789']) {
    expect(all).toContain(text);
  }
  expect(cardOf({ ...IDENTITY, validUntil: '2030-08-31' }, 'id')).toMatch(/Kecil \(UKE\).*31 Agu 2030/s);
  const others = cardOf({ ...IDENTITY, details: null });
  expect(others).toContain('ID1020000000017');
  expect(others).not.toMatch(/PT Kopi Kita|Jalan Satu|6789/);
});

it('the card of a merchant without an identity has the names in the apps of customers', () => {
  expect(cardOf(null)).toMatch(/GoPay.*Kopi Kita.*Lunas has not recorded yet who you are/s);
});

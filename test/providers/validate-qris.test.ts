import { findQrisFault } from '../../src/providers/validate-qris';
import { serializeDynamicQris } from '../../src/qris/qris';

const NMID = 'ID1020000000017';
const payload = qrisOf('KOPI KITA');

function qrisOf(merchantName: string): string {
  const qris = serializeDynamicQris({
    acquirer: 'gopay',
    merchantNumber: '0000000017',
    sizeClass: 'UKE',
    nmid: NMID,
    categoryCode: '5499',
    merchantName,
    merchantCity: 'Bandung',
    postalCode: '40111',
    totalRupiah: 50_000,
    transactionId: 'order',
  });
  if (!qris.ok) throw new Error(qris.error.message);
  return qris.value;
}

const faultOf = (nmid: string | null, shownName: string | null) =>
  findQrisFault(payload, { totalRupiah: 50_000, nmid, shownName });

it.each([
  [NMID, 'Kopi Kita'],
  [NMID, ' kopi  kita '],
  [NMID, null],
  [null, 'KOPI KITA'],
  [null, null],
])('NMID %s and name %s are those of the QR, or are not compared', (nmid, shownName) => {
  expect(faultOf(nmid, shownName)).toBeNull();
});

it('another NMID or name stops the account, and the reason has both', () => {
  expect(faultOf('ID1020000000025', 'Kopi Kita')).toEqual({
    reason: `its QR has NMID ${NMID} instead of ID1020000000025`,
    stopsAccount: 'foreign_qris',
  });
  expect(faultOf(NMID, 'Kopi Kita 2')).toEqual({
    reason: 'its QR has the name KOPI KITA instead of Kopi Kita 2',
    stopsAccount: 'foreign_qris',
  });
});

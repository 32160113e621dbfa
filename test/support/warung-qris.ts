import { serializeDynamicQris, type DynamicQris } from '../../src/qris/qris';

/** A dynamic QRIS of Rp 50.000. */
export const WARUNG: DynamicQris = {
  acquirer: 'gopay',
  merchantNumber: '3003525797',
  sizeClass: 'UMI',
  nmid: 'ID1020034567890',
  categoryCode: '5812',
  merchantName: 'Warung Lunas',
  merchantCity: 'Jakarta',
  postalCode: '10110',
  totalRupiah: 50_000,
  transactionId: '0d8178e1-c6c7-4ab4-81a6-893be9d924ab',
};

const printed = serializeDynamicQris(WARUNG);
if (!printed.ok) throw new Error('the QRIS of the warung is not valid');
/** Its text, as a QR contains it. */
export const WARUNG_PAYLOAD = printed.value;

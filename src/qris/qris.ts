import { parsePayload, serializePayload, templateOf, valueOf, type EmvPayload } from './payload';
import { failure, success, type QrisResult } from './result';
import { codePoints } from './tlv';

/** The supported acquirers, with the subtag of tag 62 that contains their transaction id. */
const ACQUIRERS = {
  gopay: { guid: 'COM.GO-JEK.WWW', nationalNumber: '93600914', transactionIdTag: '50', maxTransactionId: 99 },
  shopeepay: { guid: 'ID.CO.SHOPEE.WWW', nationalNumber: '93600918', transactionIdTag: '05', maxTransactionId: 25 },
} as const;

export type QrisAcquirer = keyof typeof ACQUIRERS;

/** The merchant account of the national register, with the NMID. */
const NATIONAL_TAG = '51';
const NATIONAL_GUID = 'ID.CO.QRIS.WWW';

/** The customer would pay another amount than that of the order: EMVCo's tip indicator, fixed fee, percentage. */
const TIP_TAGS = ['55', '56', '57'] as const;

/** One account of the merchant (tags 26–50). Missing fields are null. */
export interface MerchantAccount {
  readonly tag: string;
  readonly guid: string;
  readonly pan: string | null;
  readonly merchantId: string | null;
  readonly sizeClass: string | null;
}

/** The contents of a QRIS. It has no expiry; that is stored by the acquirer. */
export interface Qris {
  readonly kind: 'static' | 'dynamic';
  readonly merchantAccounts: readonly MerchantAccount[];
  /** The merchant's national id: `ID` and 13 digits. */
  readonly nmid: string | null;
  readonly categoryCode: string;
  /** Null if the customer enters the amount. */
  readonly totalRupiah: number | null;
  readonly merchantName: string;
  readonly merchantCity: string;
  readonly postalCode: string | null;
  /** Tag 62, by subtag. */
  readonly additionalData: ReadonlyMap<string, string>;
  /** The acquirer's transaction id: GoPay's in 62-50, others in 62-05. */
  readonly transactionId: string | null;
}

/** Parses a QRIS text: the EMVCo payload, then the national rules. Never throws. */
export function parseQris(text: string): QrisResult<Qris> {
  const payload = parsePayload(text);
  return payload.ok ? readQris(payload.value) : payload;
}

/** The shop that a customer's app shows, by the QR that was issued; null: no such QR was. */
export function shopOf(payload: string | null): Pick<Qris, 'merchantName' | 'nmid'> | null {
  const qris = payload === null ? null : parseQris(payload);
  return qris?.ok ? qris.value : null;
}

/** Interprets an EMVCo payload as a QRIS. */
function readQris(payload: EmvPayload): QrisResult<Qris> {
  const kind = readKind(payload);
  if (!kind.ok) return kind;
  const accounts = readAccounts(payload);
  if (!accounts.ok) return accounts;
  const categoryCode = readText(payload, '52', /^\d{4}$/);
  if (!categoryCode.ok) return categoryCode;
  const currency = readText(payload, '53', /^360$/);
  if (!currency.ok) return currency;
  const total = readTotal(payload);
  if (!total.ok) return total;
  const country = readText(payload, '58', /^ID$/);
  if (!country.ok) return country;
  const tip = TIP_TAGS.find((tag) => payload.some((object) => object.tag === tag));
  if (tip !== undefined) return failure('value_invalid', 'The QR has a tip.', { tag: tip });
  const merchantName = readText(payload, '59', /./su);
  if (!merchantName.ok) return merchantName;
  const merchantCity = readText(payload, '60', /./su);
  if (!merchantCity.ok) return merchantCity;

  const additionalData = templateOf(payload, '62') ?? new Map<string, string>();
  const isGopay = accounts.value.some((account) => account.guid === ACQUIRERS.gopay.guid);
  const { transactionIdTag } = isGopay ? ACQUIRERS.gopay : ACQUIRERS.shopeepay;
  return success({
    kind: kind.value,
    merchantAccounts: accounts.value,
    nmid: templateOf(payload, NATIONAL_TAG)?.get('02') ?? null,
    categoryCode: categoryCode.value,
    totalRupiah: total.value,
    merchantName: merchantName.value,
    merchantCity: merchantCity.value,
    postalCode: valueOf(payload, '61') ?? null,
    additionalData,
    transactionId: additionalData.get(transactionIdTag) ?? null,
  });
}

/** EMVCo: tag 01 is optional. Without it, only a code for one payment has an amount. */
function readKind(payload: EmvPayload): QrisResult<Qris['kind']> {
  if (valueOf(payload, '01') === undefined) return success(valueOf(payload, '54') === undefined ? 'static' : 'dynamic');
  const initiation = readText(payload, '01', /^1[12]$/);
  return initiation.ok ? success(initiation.value === '12' ? 'dynamic' : 'static') : initiation;
}

function readText(payload: EmvPayload, tag: string, pattern: RegExp): QrisResult<string> {
  const value = valueOf(payload, tag);
  if (value === undefined) return failure('tag_missing', `Tag ${tag} is missing.`, { tag });
  return pattern.test(value)
    ? success(value)
    : failure('value_invalid', `The value of tag ${tag} is invalid in a QRIS.`, { tag });
}

/** Acquirers write `50000`, `814.00` and `789000.00`. Any other fraction is invalid: a rupiah has none. */
function readTotal(payload: EmvPayload): QrisResult<number | null> {
  const amount = valueOf(payload, '54');
  if (amount === undefined) return success(null);
  const location = { tag: '54' };
  if (amount.length > 13 || !/^\d+(\.\d{0,2})?$/.test(amount)) {
    return failure('value_invalid', 'The amount must be a number of at most 13 characters.', location);
  }
  const total = Number(amount);
  if (!Number.isInteger(total)) return failure('value_invalid', 'The amount has a fraction of a rupiah.', location);
  return total > 0 ? success(total) : failure('value_invalid', 'The amount is zero.', location);
}

/** An account that is text has no fields; a QRIS has at least one account, text or template. */
function readAccounts(payload: EmvPayload): QrisResult<MerchantAccount[]> {
  const tags = payload.map(({ tag }) => tag).filter((tag) => tag >= '26' && tag <= NATIONAL_TAG);
  if (tags.length === 0) return failure('tag_missing', 'There is no merchant account (tags 26 to 51).');
  return success(
    tags.flatMap((tag) => {
      const fields = templateOf(payload, tag);
      const guid = fields?.get('00');
      if (tag === NATIONAL_TAG || !fields || guid === undefined) return [];
      const field = (subtag: string) => fields.get(subtag) ?? null;
      return [{ tag, guid, pan: field('01'), merchantId: field('02'), sizeClass: field('03') }];
    }),
  );
}

export interface DynamicQris {
  readonly acquirer: QrisAcquirer;
  /** Ten digits: the merchant's number at the acquirer, part of the PAN. */
  readonly merchantNumber: string;
  readonly sizeClass: 'UMI' | 'UKE' | 'UME' | 'UBE';
  readonly nmid: string;
  readonly categoryCode: string;
  /** Truncated to 25 characters. */
  readonly merchantName: string;
  /** Truncated to 15 characters. */
  readonly merchantCity: string;
  readonly postalCode: string;
  readonly totalRupiah: number;
  /** At most 25 characters for shopeepay. */
  readonly transactionId: string;
}

/** Serializes the dynamic QRIS of one payment. */
export function serializeDynamicQris(qris: DynamicQris): QrisResult<string> {
  const { guid, nationalNumber, transactionIdTag, maxTransactionId } = ACQUIRERS[qris.acquirer];
  if (!/^\d{10}$/.test(qris.merchantNumber)) return failure('value_invalid', 'The merchant number must be ten digits.');
  if (!/^ID\d{13}$/.test(qris.nmid))
    return failure('value_invalid', 'The NMID must be ID and 13 digits.', { tag: '51' });
  if (!Number.isSafeInteger(qris.totalRupiah) || qris.totalRupiah < 1 || qris.totalRupiah >= 1e13) {
    return failure('value_invalid', 'The amount must be whole rupiah of at most 13 digits.', { tag: '54' });
  }
  if (codePoints(qris.transactionId).length > maxTransactionId) {
    return failure('value_invalid', `The transaction id has more than ${maxTransactionId} characters.`, { tag: '62' });
  }
  const payload: EmvPayload = [
    { tag: '00', value: '01' },
    { tag: '01', value: '12' },
    {
      tag: '26',
      objects: [
        { tag: '00', value: guid },
        { tag: '01', value: withLuhnDigit(nationalNumber + qris.merchantNumber) },
        { tag: '02', value: qris.merchantNumber },
        { tag: '03', value: qris.sizeClass },
      ],
    },
    {
      tag: NATIONAL_TAG,
      objects: [
        { tag: '00', value: NATIONAL_GUID },
        { tag: '02', value: qris.nmid },
        { tag: '03', value: qris.sizeClass },
      ],
    },
    { tag: '52', value: qris.categoryCode },
    { tag: '53', value: '360' },
    { tag: '54', value: String(qris.totalRupiah) },
    { tag: '58', value: 'ID' },
    { tag: '59', value: truncateAtWord(qris.merchantName, 25) },
    { tag: '60', value: truncateAtWord(qris.merchantCity, 15) },
    { tag: '61', value: qris.postalCode },
    { tag: '62', objects: [{ tag: transactionIdTag, value: qris.transactionId }] },
  ];
  const readable = readQris(payload);
  return readable.ok ? serializePayload(payload) : readable;
}

/** Appends the check digit of a PAN (ISO/IEC 7812, Luhn). */
function withLuhnDigit(digits: string): string {
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, index) => {
      const weighted = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
      return total + (weighted > 9 ? weighted - 9 : weighted);
    }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** Collapses whitespace and control characters. Truncates between words if at least half of the length remains. */
function truncateAtWord(text: string, maxLength: number): string {
  const clean = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  const betweenWords = new RegExp(`^.{${Math.ceil(maxLength / 2)},${maxLength}}(?= |$)`, 'su');
  const anywhere = new RegExp(`^.{0,${maxLength}}`, 'su');
  return (betweenWords.exec(clean) ?? anywhere.exec(clean))?.[0].trim() ?? '';
}

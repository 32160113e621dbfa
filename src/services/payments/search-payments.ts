import type { Queryable } from '../../db/connection/pool';
import { findMerchantPayment } from '../../db/payments/find-payment';
import type { PaymentRow } from '../../db/payments/payment-row';
import { searchPaymentPage } from '../../db/payments/search-payment-page';
import { findPaymentsByText, type MatchedPayment } from '../../db/payments/search-payments';
import { MAX_TOTAL_RUPIAH, readRupiah, RUPIAH_TEXT } from '../../domain/money';
import { isReferenceBeginning, parsePathId } from './path-id';

/** A longer text is no number of a payment. */
export const MAX_SEARCH_CHARACTERS = 64;

export interface FoundPayments {
  /** First those whose order number is the text, then the others, each newest first. */
  readonly payments: readonly PaymentRow[];
  /** Whether the text matches no other payments. */
  readonly isComplete: boolean;
}

/**
 * The payments that a text means: the beginning of an order number or of a reference, in any case, an id, or an amount.
 * @returns at most `limit` of them
 */
export async function searchPayments(
  db: Queryable,
  { merchantId, text }: { readonly merchantId: string; readonly text: string },
  limit: number,
): Promise<FoundPayments> {
  const orderId = text.trim();
  if (orderId === '') return { payments: [], isComplete: true };
  const upper = orderId.toUpperCase();
  const key = parsePathId(orderId) ?? parsePathId(upper);
  const payment = key && (await findMerchantPayment(db, merchantId, key));
  if (payment) return { payments: [payment], isComplete: true };
  const reference = isReferenceBeginning(upper) ? upper : null;
  const meant = { merchantId, orderId, reference, totalRupiah: readTotal(orderId) };
  const found = await findPaymentsByText(db, meant, limit + 1);
  const ofMatch = (match: MatchedPayment['match']) => found.filter((payment) => payment.match === match);
  const isBroad = ofMatch('beginning').length > limit;
  // The index has the beginnings in the order of the numbers: of many, the newest are looked for among all payments.
  const newest = isBroad ? await findNewest(db, merchantId, orderId, limit) : [];
  const exact = ofMatch('order');
  const others = [...newest, ...found.filter(({ match }) => match !== 'order')].toSorted(newestFirst);
  const all = [...new Map([...exact, ...others].map((each) => [each.id, each])).values()];
  return { payments: all.slice(0, limit), isComplete: !isBroad && all.length <= limit };
}

/** Many beginnings are found among so few payments, and a page may read few buffers. */
const SEARCHED_NEWEST = 500;

/** The amount that a text may mean. Null: no payment has it. */
function readTotal(text: string): number | null {
  if (!RUPIAH_TEXT.test(text)) return null;
  const rupiah = readRupiah(text);
  return rupiah <= MAX_TOTAL_RUPIAH ? rupiah : null;
}

/** Among the newest payments of the merchant. */
async function findNewest(
  db: Queryable,
  merchantId: string,
  orderBeginning: string,
  limit: number,
): Promise<readonly PaymentRow[]> {
  const page = { merchantId, statuses: null, createdFrom: null, createdTo: null, start: null };
  return (await searchPaymentPage(db, page, { orderBeginning, searched: SEARCHED_NEWEST }, limit)).payments;
}

function newestFirst(one: PaymentRow, other: PaymentRow): number {
  return other.createdAt.getTime() - one.createdAt.getTime() || (one.id < other.id ? 1 : -1);
}

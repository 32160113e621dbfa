import { v5 as uuidV5 } from 'uuid';
import type { Queryable } from '../../db/connection/pool';
import type { OpenedLink } from '../../db/links/find-opened-link';
import { openLinkNumber, type NotOpened, type OpenedNumber } from '../../db/links/open-link';
import { findCreatingMerchant, type CreatingMerchantRow } from '../../db/merchants/find-creating-merchant';
import { findCurrentPolicy } from '../../db/operations/find-current-policy';
import { findMerchantPayment } from '../../db/payments/find-payment';
import type { PaymentRow } from '../../db/payments/payment-row';
import { expiryOfLinkPayment } from '../../domain/payment-link';
import { ExplainedFailure } from '../../errors';
import { isWithoutResponse } from '../../temporal/grpc-errors';
import { isAtShop } from '../merchants/shop-address';
import { isTemporalAway, type TemporalState } from '../operations/temporal-away';
import { findTermsRejection } from '../payments/create/capture-terms';
import { createPayment, type CreateDependencies } from '../payments/create/create-payment';
import type { NewPayment } from '../payments/create/new-payment';
import { fingerprintOf } from '../payments/create/request-fingerprint';
import { NO_DETAILS } from '../payments/payment-details';

export type OpenLinkDependencies = CreateDependencies & TemporalState;

/** What a visitor sent. */
export interface LinkVisit {
  readonly link: OpenedLink;
  /** The id of the page that was sent: a repeat has the same one. With another amount it is no repeat. */
  readonly attempt: string;
  readonly amountRupiah: number;
  readonly now: Date;
}

/** The payment of a visitor, or why there is none. */
export type LinkOpening =
  | { readonly outcome: 'opened'; readonly payment: Pick<PaymentRow, 'id' | 'fingerprint'> }
  /** Another visitor has chosen another amount, which stands until that payment ends. */
  | { readonly outcome: 'other_amount' }
  | { readonly outcome: NotOpened }
  /** The merchant cannot have this payment at present. */
  | { readonly outcome: 'not_possible' }
  /** Whether there is a payment is not known. The same page can be sent again. */
  | { readonly outcome: 'no_result' };

const METHOD = 'qris';

/** How often the newest number of a once-link may change while a visitor opens it. */
const MAX_MOVES = 5;

/**
 * Creates the payment of a visitor, or finds the one that exists. A process that dies between the number and the
 * creation leaves a number, whose payment the next visitor creates under the same id.
 */
export async function openLink(dependencies: OpenLinkDependencies, visit: LinkVisit): Promise<LinkOpening> {
  const { db } = dependencies;
  const merchant = await findCreatingMerchant(db, visit.link.merchantId);
  const request = await findRequest(db, merchant, visit);
  if (request === null) return { outcome: 'not_possible' };
  if (await isTemporalAway(dependencies)) return { outcome: 'no_result' };
  const opened = await takeNumber(db, visit);
  if (opened.outcome === 'moved') return { outcome: 'no_result' };
  if (opened.paymentId === null) return { outcome: opened.outcome };
  const found = opened.outcome === 'found' ? await findPayment(db, visit, opened.paymentId) : undefined;
  return found === undefined ? create(dependencies, visit, { ...opened, merchant, request }) : toOpened(visit, found);
}

/**
 * The payment that the merchant would request; null: it cannot have it at present. This is asked before a number is
 * taken, so that a shop without a provider uses up no link.
 */
async function findRequest(db: Queryable, merchant: CreatingMerchantRow, visit: LinkVisit): Promise<NewPayment | null> {
  const { link, amountRupiah, now } = visit;
  const choice = { provider: link.provider, paymentMethod: METHOD, amountRupiah } as const;
  const { provider, merchantId } = link;
  const current = await findCurrentPolicy(db, { merchantId, provider, channel: METHOD });
  const isClosed = link.merchantStatus !== 'approved' || findTermsRejection(merchant, choice, current) !== null;
  if (isClosed || current.policy === null) return null;
  return {
    ...NO_DETAILS,
    ...choice,
    merchantReferenceId: link.merchantReferenceId,
    expiresInSeconds: expiryOfLinkPayment(link, current.policy.expiresInSeconds, now.getTime()),
    // An address that the merchant has removed is not its shop any more.
    returnUrl: link.returnUrl !== null && isAtShop(merchant, link.returnUrl) ? link.returnUrl : null,
    description: link.title,
  };
}

/** The ids of payments are in the namespace of the link, so they meet no key of a merchant. */
const paymentIdOf = ({ link, attempt, amountRupiah }: LinkVisit, number: number | null) =>
  uuidV5(number === null ? `${attempt} ${amountRupiah}` : String(number), link.id);

async function takeNumber(db: Queryable, visit: LinkVisit): Promise<OpenedNumber> {
  const { link, now: at } = visit;
  let number = link.kind === 'once' ? (link.newest?.number ?? 0) + 1 : null;
  for (let move = 1; ; move += 1) {
    const wanted = { linkId: link.id, paymentId: paymentIdOf(visit, number), number, at };
    const opened = await openLinkNumber(db, wanted);
    if (opened.outcome !== 'moved' || move === MAX_MOVES) return opened;
    number = (opened.number ?? 0) + 1;
  }
}

function findPayment(db: Queryable, { link }: LinkVisit, id: string): Promise<PaymentRow | undefined> {
  return findMerchantPayment(db, link.merchantId, { id });
}

function toOpened({ link, amountRupiah }: LinkVisit, payment: PaymentRow): LinkOpening {
  const isOther = link.kind === 'once' && payment.amountRupiah !== amountRupiah;
  return isOther ? { outcome: 'other_amount' } : { outcome: 'opened', payment };
}

interface NumberedRequest {
  readonly paymentId: string;
  readonly number: number;
  readonly merchant: CreatingMerchantRow;
  readonly request: NewPayment;
}

async function create(
  dependencies: OpenLinkDependencies,
  visit: LinkVisit,
  { paymentId, number, merchant, request }: NumberedRequest,
): Promise<LinkOpening> {
  const identity = { paymentId, idempotencyKey: `link-${visit.link.id}-${number}` };
  const draft = { request, fingerprint: fingerprintOf(request, dependencies.derivedKeys), identity };
  const result = await createPayment(dependencies, merchant, draft).catch((error: unknown) => {
    if (error instanceof ExplainedFailure || isWithoutResponse(error)) return null;
    throw error;
  });
  if (result === null) return { outcome: 'no_result' };
  if (result.outcome === 'created') return { outcome: 'opened', payment: result.payment };
  if (result.rejection.reason === 'creates_in_flight') return { outcome: 'no_result' };
  // A visitor of the same moment was first, with another amount or another second of the expiry.
  const first = await findPayment(dependencies.db, visit, paymentId);
  return first === undefined || first.status === 'failed' ? { outcome: 'not_possible' } : toOpened(visit, first);
}

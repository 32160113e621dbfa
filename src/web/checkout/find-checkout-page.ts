import type { Request } from 'express';
import { z } from 'zod';
import { findCheckout, type CheckoutRow } from '../../db/payments/find-checkout';
import { LANGUAGES, type Language } from '../../domain/sign-in';
import { isAtShop, REFERENCE_PLACEHOLDER } from '../../services/merchants/shop-address';
import { openDetails, type SentDetails } from '../../services/payments/payment-details';
import { logPayment } from '../../temporal/log-payment';
import type { CheckoutPageDependencies } from './checkout-dependencies';

/** What the merchant sent about this payment. */
interface SentTexts {
  readonly description: string | null;
  /** Where the page leads: the address of this payment, else that of the shop. */
  readonly returnUrl: string | null;
}

/** The payment of the token in the path; undefined for any other text. */
export async function findCheckoutPage(
  dependencies: Omit<CheckoutPageDependencies, 'checkoutPages'>,
  { params }: Request,
): Promise<(CheckoutRow & SentTexts) | undefined> {
  const paymentId = await dependencies.checkoutLinks.idOf(String(params.token));
  if (paymentId === undefined) return undefined;
  logPayment(paymentId);
  const row = await findCheckout(dependencies.keylessDb, paymentId);
  return row && { ...row, ...sentTexts(dependencies, row) };
}

/** The customer can pay without it, so details that cannot be opened are an error for the log only. */
function sentTexts({ log, sealer }: Pick<CheckoutPageDependencies, 'log' | 'sealer'>, row: CheckoutRow): SentTexts {
  try {
    const { description, metadata, returnUrl } = openDetails(sealer, row.id, row.sealedDetails);
    // An address that the merchant has removed is not its shop any more.
    const ownReturnUrl = returnUrl !== null && isAtShop(row, returnUrl) ? returnUrl : null;
    return { description: description ?? descriptionIn(metadata), returnUrl: ownReturnUrl ?? shopReturnUrl(row) };
  } catch (error) {
    log.error({ err: error }, 'details of a payment not opened; the checkout page has no description');
    return { description: null, returnUrl: shopReturnUrl(row) };
  }
}

/** The merchant's own text about the order, where integrations had it before `description`. */
const describedSchema = z.object({ description: z.string().trim().min(1) });

function descriptionIn(metadata: SentDetails['metadata']): string | null {
  return describedSchema.safeParse(metadata).data?.description ?? null;
}

/** The address that the merchant has registered, with its own order id where it has the placeholder. */
function shopReturnUrl({ returnUrl, merchantReferenceId }: CheckoutRow): string | null {
  return returnUrl?.replaceAll(REFERENCE_PLACEHOLDER, encodeURIComponent(merchantReferenceId ?? '')) ?? null;
}

/** The language of `?lang=`, else of the browser; Indonesian if neither names one that the page has. */
export function languageOf(request: Request): Language {
  const chosen = LANGUAGES.find((language) => language === request.query.lang);
  const accepted = request.acceptsLanguages([...LANGUAGES]);
  return chosen ?? LANGUAGES.find((language) => language === accepted) ?? 'id';
}

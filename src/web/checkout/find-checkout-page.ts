import type { Request } from 'express';
import { z } from 'zod';
import { findCheckout, type CheckoutRow } from '../../db/payments/find-checkout';
import { LANGUAGES, type Language } from '../../domain/sign-in';
import { logPayment } from '../../temporal/log-payment';
import type { CheckoutPageDependencies } from './checkout-dependencies';
import type { CheckoutPayment } from './checkout-state';

/** What the page reads of `metadata`: the merchant's own text about the order. */
const descriptionSchema = z.object({ metadata: z.object({ description: z.string().trim().min(1) }) });

/** The payment of the token in the path; undefined for any other text. */
export async function findCheckoutPage(
  dependencies: Omit<CheckoutPageDependencies, 'checkoutPages'>,
  { params }: Request,
): Promise<(CheckoutRow & Pick<CheckoutPayment, 'description'>) | undefined> {
  const paymentId = await dependencies.checkoutLinks.paymentIdOf(String(params.token));
  if (paymentId === undefined) return undefined;
  logPayment(paymentId);
  const row = await findCheckout(dependencies.keylessDb, paymentId);
  return row && { ...row, description: descriptionOf(dependencies, row) };
}

/** The customer can pay without it, so details that cannot be opened are an error for the log only. */
function descriptionOf(
  { log, sealer }: Pick<CheckoutPageDependencies, 'log' | 'sealer'>,
  { id, sealedDetails }: CheckoutRow,
): string | null {
  if (sealedDetails === null) return null;
  try {
    const details = descriptionSchema.safeParse(JSON.parse(sealer.open(sealedDetails, ['payment-details', id])));
    return details.success ? details.data.metadata.description : null;
  } catch (error) {
    log.error({ err: error }, 'details of a payment not opened; the checkout page has no description');
    return null;
  }
}

/** The language of `?lang=`, else of the browser; Indonesian if neither names one that the page has. */
export function languageOf(request: Request): Language {
  const chosen = LANGUAGES.find((language) => language === request.query.lang);
  const accepted = request.acceptsLanguages([...LANGUAGES]);
  return chosen ?? LANGUAGES.find((language) => language === accepted) ?? 'id';
}

import type { Request } from 'express';
import { findCheckout, type CheckoutRow } from '../../db/queries/find-checkout';
import { LANGUAGES, type Language } from '../../domain/sign-in';
import { logPayment } from '../../temporal/log-payment';
import type { CheckoutDependencies } from './checkout-dependencies';

/** The payment of the token in the path; undefined for any other text. */
export async function findCheckoutPage(
  { checkoutLinks, keylessDb }: Pick<CheckoutDependencies, 'checkoutLinks' | 'keylessDb'>,
  { params }: Request,
): Promise<CheckoutRow | undefined> {
  const paymentId = await checkoutLinks.paymentIdOf(String(params.token));
  if (paymentId === undefined) return undefined;
  logPayment(paymentId);
  return findCheckout(keylessDb, paymentId);
}

/** The language of `?lang=`, else of the browser; Indonesian if neither names one that the page has. */
export function languageOf(request: Request): Language {
  const chosen = LANGUAGES.find((language) => language === request.query.lang);
  const accepted = request.acceptsLanguages([...LANGUAGES]);
  return chosen ?? LANGUAGES.find((language) => language === accepted) ?? 'id';
}

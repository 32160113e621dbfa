import type { Environment } from '../../config';
import { findPaymentKey } from '../../db/payments/find-checkout';
import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import type { CheckoutDependencies } from './checkout-dependencies';

type SandboxCheckoutDependencies = Pick<CheckoutDependencies, 'checkoutLinks' | 'keylessDb'> & {
  readonly environment: Environment;
};

/** A payment at the acquirer. The number of its transaction is in the QR code, and cannot be guessed. */
interface AcquirerPayment {
  readonly referenceId: string;
  readonly transactionId: string;
}

/** The address of the page of this payment; undefined in production, where no number opens a page. */
export async function findSandboxCheckout(
  { environment, keylessDb, checkoutLinks }: SandboxCheckoutDependencies,
  { referenceId, transactionId }: AcquirerPayment,
): Promise<string | undefined> {
  // PostgreSQL stores no NUL, so no payment has one.
  if (environment !== 'sandbox' || `${referenceId}${transactionId}`.includes('\0')) return undefined;
  const payment = await findPaymentKey(keylessDb, referenceId, transactionId);
  return payment && checkoutLinks.urlOf(payment);
}

/** Leads from an order on the page of the sandbox to its checkout page. */
export const getSandboxCheckout = publicEndpoint({
  method: 'get',
  path: '/sandbox/checkout/:reference/:transaction',
  countsAgainstNetworkLimit: true,
  async handler(dependencies: SandboxCheckoutDependencies, { params }) {
    const payment = { referenceId: String(params.reference), transactionId: String(params.transaction) };
    const url = await findSandboxCheckout(dependencies, payment);
    if (url === undefined) throw new ApiError('not_found', 'There is no such payment.');
    return { status: 303, headers: { Location: url, 'Cache-Control': 'no-store' }, body: '' };
  },
});

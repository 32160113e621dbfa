import type { PayoutProvider } from '../payout-provider';
import type { Indeterminate, Provider, ProviderCall } from '../provider';

export type ProviderOperation = Exclude<keyof Provider, 'verifyNotification'>;
export type PayoutOperation = keyof PayoutProvider;

/** What a call is about. */
export interface CallDetails {
  readonly operation: ProviderOperation | PayoutOperation;
  /** Absent: it is about a bank account, whose number nothing may show. */
  readonly referenceId?: string;
}

/** Makes a call, or returns `indeterminate` without making it. */
export type CallWrapper = <Outcome extends { readonly outcome: string }>(
  call: ProviderCall,
  work: () => Promise<Outcome>,
  details: CallDetails,
) => Promise<Outcome | Indeterminate>;

/** A provider account with a wrapper around each of its calls. */
export function wrapCalls(provider: Provider, wrap: CallWrapper): Provider {
  return {
    issueQris: (request, call) =>
      wrap(call, () => provider.issueQris(request, call), { operation: 'issueQris', referenceId: request.referenceId }),
    findPayment: (order, call) =>
      wrap(call, () => provider.findPayment(order, call), {
        operation: 'findPayment',
        referenceId: order.referenceId,
      }),
    expirePayment: (order, call) =>
      wrap(call, () => provider.expirePayment(order, call), {
        operation: 'expirePayment',
        referenceId: order.referenceId,
      }),
    cancelPayment: (order, call) =>
      wrap(call, () => provider.cancelPayment(order, call), {
        operation: 'cancelPayment',
        referenceId: order.referenceId,
      }),
    refundPayment: (request, call) =>
      wrap(call, () => provider.refundPayment(request, call), {
        operation: 'refundPayment',
        referenceId: request.referenceId,
      }),
    verifyNotification: (notification) => provider.verifyNotification(notification),
  };
}

/** A payouts account with a wrapper around each of its calls. */
export function wrapPayoutCalls(provider: PayoutProvider, wrap: CallWrapper): PayoutProvider {
  return {
    inquireAccount: (account, call) =>
      wrap(call, () => provider.inquireAccount(account, call), { operation: 'inquireAccount' }),
    prepareSend: (referenceId, call) =>
      wrap(call, () => provider.prepareSend(referenceId, call), { operation: 'prepareSend', referenceId }),
    sendPayout: (order, call) =>
      wrap(call, () => provider.sendPayout(order, call), { operation: 'sendPayout', referenceId: order.referenceId }),
    findPayout: (key, call) =>
      wrap(call, () => provider.findPayout(key, call), { operation: 'findPayout', referenceId: key.referenceId }),
  };
}

import type { Indeterminate, Provider, ProviderCall } from '../provider';

export type ProviderOperation = Exclude<keyof Provider, 'verifyNotification'>;

/** Makes a call, or returns `indeterminate` without making it. */
export type CallWrapper = <Outcome extends { readonly outcome: string }>(
  call: ProviderCall,
  work: () => Promise<Outcome>,
  operation: ProviderOperation,
) => Promise<Outcome | Indeterminate>;

/** The same provider account, with a wrapper around each of its calls. */
export function wrapCalls(provider: Provider, wrap: CallWrapper): Provider {
  return {
    issueQris: (request, call) => wrap(call, () => provider.issueQris(request, call), 'issueQris'),
    findPayment: (id, call) => wrap(call, () => provider.findPayment(id, call), 'findPayment'),
    expirePayment: (id, call) => wrap(call, () => provider.expirePayment(id, call), 'expirePayment'),
    cancelPayment: (id, call) => wrap(call, () => provider.cancelPayment(id, call), 'cancelPayment'),
    refundPayment: (request, call) => wrap(call, () => provider.refundPayment(request, call), 'refundPayment'),
    verifyNotification: (notification) => provider.verifyNotification(notification),
  };
}

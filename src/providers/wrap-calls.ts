import type { Indeterminate, Provider, ProviderCall } from './provider';

/** Makes a call, or returns `indeterminate` without making it. */
export type CallWrapper = <Outcome extends { readonly outcome: string }>(
  call: ProviderCall,
  work: () => Promise<Outcome>,
) => Promise<Outcome | Indeterminate>;

/** The same provider account, with a wrapper around each of its calls. */
export function wrapCalls(provider: Provider, wrap: CallWrapper): Provider {
  return {
    issueQris: (request, call) => wrap(call, () => provider.issueQris(request, call)),
    findPayment: (referenceId, call) => wrap(call, () => provider.findPayment(referenceId, call)),
    expirePayment: (referenceId, call) => wrap(call, () => provider.expirePayment(referenceId, call)),
    cancelPayment: (referenceId, call) => wrap(call, () => provider.cancelPayment(referenceId, call)),
    refundPayment: (request, call) => wrap(call, () => provider.refundPayment(request, call)),
    verifyNotification: (notification) => provider.verifyNotification(notification),
  };
}

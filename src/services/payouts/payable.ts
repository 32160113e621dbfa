import { z } from 'zod';
import type { PayoutRejection } from '../../domain/payout-rejections';
import { DEFERRAL_TEXTS } from '../../domain/payout-step';

/** Why the balance of a merchant is not paid out. */
export const payableReason = { not_payable: { why: z.custom<PayoutRejection>() } } as const;

/** The sentence of `payableReason` for operators. */
export const payableMessage = {
  not_payable: ({ why }: { readonly why: PayoutRejection }) => describeRejection(why),
} as const;

function describeRejection(rejection: PayoutRejection): string {
  switch (rejection.code) {
    case 'nothing_to_pay':
      return 'The merchant has no balance to pay.';
    case 'negative_balance':
      return `The merchant owes ${-rejection.balanceRupiah} rupiah: the next settlements pay it off first.`;
    case 'below_minimum':
      return `The balance is ${rejection.balanceRupiah} rupiah, and a payout needs ${rejection.minimumRupiah}.`;
    case 'balance_changed':
      return 'The balance has changed meanwhile: repeat this.';
    case 'request_pending':
      return 'Another payout of the merchant is being requested: repeat this in some minutes.';
    case 'cooling_down':
      return `Not now: the bank account is new. Payouts can go to it from ${rejection.usableFrom.toISOString()}.`;
    default:
      return `Not now: the payout would wait for ${DEFERRAL_TEXTS[rejection.code]}.`;
  }
}

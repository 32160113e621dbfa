import type { PaymentStatus } from '../../../domain/payment-transitions';
import type { CheckoutState } from '../../checkout/checkout-state';
import type { MerchantView } from '../merchant-view';

/** What a cashier passes on of a code. */
export interface SharedCode {
  readonly view: MerchantView;
  readonly payment: {
    readonly referenceId: string;
    readonly totalRupiah: number;
    readonly createdAt: Date;
    readonly expiresAt: Date;
  };
  readonly checkoutUrl: string;
  /** Why the user cannot cancel the payment; null if the user can. */
  readonly cancelRejection: string | null;
}

/** The page of a code that customers scan. */
export interface QrPage extends SharedCode {
  readonly payment: SharedCode['payment'] & {
    readonly status: PaymentStatus;
    readonly merchantName: string;
    /** The merchant's own number of the order; null if it has none. */
    readonly merchantReferenceId: string | null;
    readonly paidAt: Date | null;
  };
  readonly state: CheckoutState;
  /** Null when it can no longer be paid: then there is no code. */
  readonly payload: string | null;
  /** What the user has taken today; null before the payment, and for who has created none today. */
  readonly dayTotal: { readonly payments: number; readonly totalRupiah: number } | null;
  readonly statusKey: string;
  readonly isLive: boolean;
  /** The page has no menu, and its next step is the counter. */
  readonly isAtCounter: boolean;
}

/** Whether the customer has paid, and has nothing back. */
export const isPaid = (status: PaymentStatus) => status === 'paid' || status === 'settled';

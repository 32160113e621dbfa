import type { PaymentLinkRow } from '../../../db/links/payment-link-row';

/** A payment link as pages show it. */
export type ShownLink = PaymentLinkRow;

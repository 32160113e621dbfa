import { z } from 'zod';
import { counterPath } from '../counter/counter-paths';
import { COUNTER_TEXTS } from '../counter/counter-texts';
import type { MerchantView } from '../merchant-view';
import { paymentPagePath } from './payment-paths';

/** The counter shows pages of a payment as its own steps. */
export const fromField = z.object({ from: z.literal('counter').optional().catch(undefined) });

/** Where a page of a payment leads back to. */
export function backOf(view: MerchantView, referenceId: string, isAtCounter: boolean) {
  return isAtCounter
    ? { href: counterPath.to(view), label: COUNTER_TEXTS[view.locale.language].title }
    : { href: paymentPagePath.to({ ...view, ref: referenceId }), label: view.texts.qr.details };
}

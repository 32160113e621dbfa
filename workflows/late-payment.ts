import {
  CancellationScope,
  condition,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Activities } from '../activities';
import { formatRupiah } from '../src/domain/money';
import type { LatePaymentResult } from '../src/domain/late-payment';
import type { PaymentTerms } from '../src/domain/payment';
import { backOff, DAY_MS, SECOND_MS, UNTIL_CLEAR } from './retries';
import { paidSignal, SEARCH_ATTRIBUTES } from './messages';

const ASK_FOR_REFUND_MS = { first: SECOND_MS, longest: DAY_MS } as const;

/**
 * There is news of a payment that has ended. Customers do pay a QR that expired or was cancelled: the money is held in
 * suspense and given back, or a person sees to it; nothing is dropped.
 */
export function latePayment(terms: PaymentTerms): Promise<LatePaymentResult['status']> {
  return CancellationScope.nonCancellable(() => live(terms));
}

async function live(terms: PaymentTerms): Promise<LatePaymentResult['status']> {
  let reported = true;
  setHandler(
    paidSignal,
    () => {
      reported = true;
    },
    { description: 'The provider has news of it: has the provider asked now. Harmless at any time.' },
  );
  const { receiveLatePayment, refundLatePayment } = proxyActivities<Activities>({
    ...UNTIL_CLEAR,
    summary: `${terms.referenceId}: money after the end`,
  });

  let result: LatePaymentResult = { status: 'none' };
  while (reported) {
    reported = false;
    result = show(await receiveLatePayment({ terms, atMs: Date.now() }));
    const nextWaitMs = backOff(ASK_FOR_REFUND_MS);
    while (result.status === 'received' || result.status === 'submitted') {
      result = show(await refundLatePayment({ terms, atMs: Date.now() }));
      if (result.status === 'submitted') await condition(() => reported, nextWaitMs());
    }
  }
  return result.status;

  function show(now: LatePaymentResult): LatePaymentResult {
    if ((now.attention === undefined) !== (result.attention === undefined)) {
      upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.needsAttention, value: now.attention !== undefined }]);
    }
    const concern = now.attention === undefined ? '' : `\n\n**Needs attention:** ${now.attention}`;
    setCurrentDetails(`**${now.status}**: ${MEANINGS[now.status]} (${formatRupiah(terms.totalRupiah)}).${concern}`);
    return now;
  }
}

const MEANINGS = {
  none: 'no money came after the end',
  received: 'money came after the end, and is held in suspense',
  submitted: 'the provider is asked to give it back',
  refunded: 'the customer has it back',
  kept: 'nobody gives it back by a rule: see `lunas exceptions list`',
} as const satisfies Record<LatePaymentResult['status'], string>;

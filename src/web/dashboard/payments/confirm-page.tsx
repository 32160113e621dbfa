import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import { ConfirmPage } from '../../ui/confirm-page';
import { Notice, type Fact } from '../../ui/layout';
import { Money } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { PAYMENT_ACTION_PATHS, paymentPagePath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';

export interface ConfirmedPayment {
  readonly referenceId: string;
  readonly version: number;
  readonly totalRupiah: number;
  readonly netRupiah: number;
  readonly feeRupiah: number;
}

/** What the pages of the three actions differ in. */
export type ConfirmKind = keyof typeof PAYMENT_ACTION_PATHS;

/**
 * `unknown`: the request was sent, and its outcome is not known. `stale`: the payment has changed meanwhile.
 * `unavailable`: nothing was sent.
 */
export type ConfirmProblem = 'rejected' | 'stale' | 'unknown' | 'unavailable';

interface ConfirmPageOfPayment {
  readonly view: MerchantView;
  readonly kind: ConfirmKind;
  readonly payment: ConfirmedPayment;
  readonly rejection: string | null;
  /** What happened to the form; null before it is sent. */
  readonly problem: ConfirmProblem | null;
}

export function renderConfirmPage(page: ConfirmPageOfPayment): string {
  const { view, kind } = page;
  return renderMerchantPage(view, {
    title: view.texts.confirm[kind].title,
    current: 'payments',
    live: 'none',
    children: <Confirm {...page} />,
  });
}

function Confirm({ view, kind, payment, rejection, problem }: ConfirmPageOfPayment): ReactElement {
  const { confirm } = view.texts;
  const path = { code: view.code, ref: payment.referenceId };
  return (
    <ConfirmPage
      title={confirm[kind].title}
      back={{ href: paymentPagePath.to(path), label: payment.referenceId }}
      facts={factsOf(view, kind, payment)}
      explanation={confirm[kind].explanation}
      action={PAYMENT_ACTION_PATHS[kind].to(path)}
      button={labelOf(view, kind, payment)}
      cancel={confirm.keep}
      tone={kind === 'refundCancel' ? 'primary' : 'danger'}
      fields={{ version: String(payment.version) }}
      rejection={rejection}
    >
      {(problem === 'unknown' || problem === 'unavailable') && (
        <Notice tone="warning">
          <p>{confirm[problem]}</p>
        </Notice>
      )}
      {problem === 'stale' && rejection === null && (
        <Notice tone="bad">
          <p>{PAYMENT_TEXTS[view.locale.language].stale}</p>
        </Notice>
      )}
    </ConfirmPage>
  );
}

function factsOf({ texts }: MerchantView, kind: ConfirmKind, payment: ConfirmedPayment): Fact[] {
  const { refund } = texts.confirm;
  const total = <Money rupiah={payment.totalRupiah} />;
  if (kind !== 'refund') return [{ name: texts.list.columns.total, value: total, isTotal: true }];
  return [
    { name: refund.customer, value: total, isTotal: true },
    { name: refund.merchant, value: <Money rupiah={payment.netRupiah} /> },
    { name: refund.fee, value: <Money rupiah={payment.feeRupiah} /> },
  ];
}

function labelOf({ texts: { confirm } }: MerchantView, kind: ConfirmKind, { totalRupiah }: ConfirmedPayment): string {
  if (kind === 'refund') return confirm.refund.button(formatRupiah(totalRupiah));
  return confirm[kind].button;
}

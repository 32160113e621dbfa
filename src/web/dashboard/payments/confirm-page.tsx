import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { Money } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { PAYMENT_TEXTS } from './payment-texts';

export interface ConfirmedPayment {
  readonly referenceId: string;
  readonly version: number;
  readonly totalRupiah: number;
  readonly netRupiah: number;
  readonly feeRupiah: number;
}

/** What the pages of the three actions differ in. */
export type ConfirmKind = 'refund' | 'cancel' | 'refundCancel';

/**
 * `unknown`: the request was sent, and its outcome is not known. `stale`: the payment has changed meanwhile.
 * `unavailable`: nothing was sent.
 */
export type ConfirmProblem = 'rejected' | 'stale' | 'unknown' | 'unavailable';

interface ConfirmPage {
  readonly view: MerchantView;
  readonly kind: ConfirmKind;
  readonly payment: ConfirmedPayment;
  readonly rejection: string | null;
  /** What happened to the form; null before it is sent. */
  readonly problem: ConfirmProblem | null;
}

export function renderConfirmPage(page: ConfirmPage): string {
  const { view, kind } = page;
  return renderMerchantPage(view, {
    title: view.texts.confirm[kind].title,
    current: 'payments',
    live: 'none',
    children: <Confirm {...page} />,
  });
}

function Confirm({ view, kind, payment, rejection, problem }: ConfirmPage): ReactElement {
  const { texts, paths } = view;
  const { confirm } = texts;
  const back = paths.payment(payment.referenceId);
  return (
    <div className="narrow">
      <PageHead title={confirm[kind].title} back={{ href: back, label: payment.referenceId }} />
      <div className="stack">
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
        <Card>
          <Facts facts={factsOf(view, kind, payment)} />
        </Card>
        <p className="text">{confirm[kind].explanation}</p>
        <ConfirmForm
          action={pathOf(view, kind, payment)}
          label={labelOf(view, kind, payment)}
          tone={kind === 'refundCancel' ? 'primary' : 'danger'}
          fields={{ version: String(payment.version) }}
          rejection={rejection}
        >
          <a className="button wide-button" href={back}>
            {confirm.keep}
          </a>
        </ConfirmForm>
      </div>
    </div>
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

function pathOf({ paths }: MerchantView, kind: ConfirmKind, { referenceId }: ConfirmedPayment): string {
  return { refund: paths.refund, cancel: paths.cancel, refundCancel: paths.cancelRefund }[kind](referenceId);
}

function labelOf({ texts: { confirm } }: MerchantView, kind: ConfirmKind, { totalRupiah }: ConfirmedPayment): string {
  if (kind === 'refund') return confirm.refund.button(formatRupiah(totalRupiah));
  return confirm[kind].button;
}

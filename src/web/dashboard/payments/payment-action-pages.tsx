import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import type { PaymentStatus } from '../../../domain/payment-transitions';
import type { RejectionTexts } from '../../../services/operations/rejections';
import { cancelPayment } from '../../../services/payments/actions/cancel-payment';
import { cancelRefund } from '../../../services/payments/actions/cancel-refund';
import type { paymentActionReasons } from '../../../services/payments/actions/member-action';
import { refundPayment } from '../../../services/payments/actions/refund-payment';
import type { ActionPayment } from '../../../services/payments/actions/request-action';
import type { MemberVisit } from '../../page/page-route';
import { Chip } from '../../ui/chip';
import { ConfirmPage } from '../../ui/confirm-page';
import { Notice, type Fact } from '../../ui/layout';
import { Money, Time } from '../../ui/values';
import { memberFormPages, memberText, shownVersion, type FormPage, type FormVisit } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { memberActor } from '../user-identity';
import { PAYMENT_ACTION_PATHS, paymentPagePath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';

interface ConfirmedPayment {
  readonly referenceId: string;
  readonly merchantReferenceId: string | null;
  readonly version: number;
  readonly status: PaymentStatus;
  readonly createdAt: Date;
  readonly totalRupiah: number;
  readonly netRupiah: number;
  readonly feeRupiah: number;
}

/** What the pages of the three actions differ in. */
export type ConfirmKind = keyof typeof PAYMENT_ACTION_PATHS;

const OPERATIONS = { refund: refundPayment, cancel: cancelPayment, refundCancel: cancelRefund } as const;

type ConfirmProps = FormPage<ConfirmedPayment> & { readonly kind: ConfirmKind };

/**
 * What the pages of an action have in common.
 * @param doneCode the code of the text on the page of the payment afterwards
 */
const pagesOf = (kind: ConfirmKind, doneCode: 'refund_requested' | 'cancelled' | 'refund_cancelled') => ({
  at: PAYMENT_ACTION_PATHS[kind],
  path: ({ ref }: { readonly ref: string }) => ({ payment: ref }),
  fields: () => shownVersion,
  errors: ({ locale }: MerchantView) => ({ form: PAYMENT_TEXTS[locale.language].stale }),
  rejections: rejectionsOf,
  problem: problemOf,
  done: ({ referenceId }: { readonly referenceId: string }, { view }: FormVisit) =>
    paymentPagePath.to({ ...view, ref: referenceId }, { done: doneCode }),
  render: (page: FormPage<ConfirmedPayment>) => renderPage({ ...page, kind }),
});

/** For each action a page with one button, and what the button does. */
export const paymentActionPages = [
  ...memberFormPages({ ...pagesOf('refund', 'refund_requested'), operation: OPERATIONS.refund }),
  ...memberFormPages({ ...pagesOf('cancel', 'cancelled'), operation: OPERATIONS.cancel }),
  ...memberFormPages({ ...pagesOf('refundCancel', 'refund_cancelled'), operation: OPERATIONS.refundCancel }),
];

/** Why the user cannot do it to the payment, in their language; null: they can. */
export function actionRejection(
  { view, visit }: { readonly view: MerchantView; readonly visit: MemberVisit },
  kind: ConfirmKind,
  payment: ActionPayment,
): string | null {
  const rejection = OPERATIONS[kind].rejectionFor(memberActor(visit), payment);
  return rejection && memberText(view, rejectionsOf(view), rejection);
}

function rejectionsOf({ texts, locale }: MerchantView): RejectionTexts<typeof paymentActionReasons> {
  const { stale } = PAYMENT_TEXTS[locale.language];
  return {
    not_possible: ({ code }) => texts.rejections[code],
    superseded: () => stale,
    temporal_away: () => texts.confirm.unavailable,
  };
}

/** What happened to the form. Null: the payment does not allow the action, and its page shows why. */
function problemOf({ texts, locale }: MerchantView, rejection: { readonly reason: string } | null): string | null {
  if (rejection === null) return texts.confirm.unknown;
  if (rejection.reason === 'superseded') return PAYMENT_TEXTS[locale.language].stale;
  return rejection.reason === 'temporal_away' ? texts.confirm.unavailable : null;
}

function renderPage(page: ConfirmProps): string {
  return renderMerchantPage(page.view, {
    title: page.view.texts.confirm[page.kind].title,
    current: 'payments',
    live: 'none',
    children: <Confirm {...page} />,
  });
}

function Confirm(page: ConfirmProps): ReactElement {
  const { view, kind, subject: payment, formId, rejection, problem } = page;
  const { confirm } = view.texts;
  const path = { code: view.code, ref: payment.referenceId };
  return (
    <ConfirmPage
      title={confirm[kind].title}
      back={{ href: paymentPagePath.to(path), label: payment.referenceId }}
      facts={factsOf(page)}
      explanation={confirm[kind].explanation}
      action={PAYMENT_ACTION_PATHS[kind].to(path)}
      button={labelOf(page)}
      cancel={confirm.keep}
      tone={kind === 'refundCancel' ? 'primary' : 'danger'}
      fields={{ form_id: formId, version: String(payment.version) }}
      rejection={rejection}
    >
      {problem !== null && (
        <Notice tone={problem === PAYMENT_TEXTS[view.locale.language].stale ? 'bad' : 'warning'}>
          <p>{problem}</p>
        </Notice>
      )}
    </ConfirmPage>
  );
}

function factsOf({ view, kind, subject: payment }: ConfirmProps): Fact[] {
  const { confirm, list, detail, statuses } = view.texts;
  const total = <Money rupiah={payment.totalRupiah} />;
  const amounts =
    kind === 'refund'
      ? [
          { name: confirm.refund.customer, value: total, isTotal: true },
          { name: confirm.refund.merchant, value: <Money rupiah={payment.netRupiah} /> },
          { name: confirm.refund.fee, value: <Money rupiah={payment.feeRupiah} /> },
        ]
      : [{ name: list.columns.total, value: total, isTotal: true }];
  const order = payment.merchantReferenceId;
  return [
    ...amounts,
    ...(order === null ? [] : [{ name: detail.order, value: <bdi>{order}</bdi> }]),
    { name: list.columns.status, value: <Chip status={payment.status} label={statuses[payment.status]} /> },
    { name: detail.created, value: <Time at={payment.createdAt} style="short" locale={view.locale} /> },
  ];
}

function labelOf({ view: { texts }, kind, subject: { totalRupiah } }: ConfirmProps): string {
  const { confirm } = texts;
  return kind === 'refund' ? confirm.refund.button(formatRupiah(totalRupiah)) : confirm[kind].button;
}

import type { ReactElement } from 'react';
import { describeAccount } from '../../../domain/banks';
import { formatRupiah } from '../../../domain/money';
import { ConfirmPage } from '../../ui/confirm-page';
import { Notice, type Fact } from '../../ui/layout';
import { Money, Time } from '../../ui/values';
import type { FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { approverOf, PayoutChip, requesterOf, type ListedPayout } from './payout-parts';
import { PAYOUT_ACTION_PATHS, payoutPagePath, type MemberPayoutAction } from './payout-paths';
import { PAYOUT_TEXTS } from './payout-texts';

interface ConfirmPayoutProps extends FormPage<ListedPayout> {
  readonly action: MemberPayoutAction;
  /** The name that the bank reports; null: not known any more. */
  readonly holderName: string | null;
  readonly activeSince: Date | null;
  readonly balanceAfterRupiah: number;
}

export function renderConfirmPayoutPage(props: ConfirmPayoutProps): string {
  return renderMerchantPage(props.view, {
    title: PAYOUT_FORM_TEXTS[props.view.locale.language][props.action].title,
    current: 'payouts',
    live: 'none',
    children: <ConfirmPayout {...props} />,
  });
}

function ConfirmPayout(props: ConfirmPayoutProps): ReactElement {
  const { view, action, subject: payout, formId, rejection, problem } = props;
  const own = PAYOUT_FORM_TEXTS[view.locale.language];
  const path = { code: view.code, ref: payout.referenceId };
  return (
    <ConfirmPage
      title={own[action].title}
      back={{ href: payoutPagePath.to(path), label: payout.referenceId }}
      facts={factsOf(props)}
      explanation={own[action].text}
      action={PAYOUT_ACTION_PATHS[action].to(path)}
      button={own[action].button(formatRupiah(payout.amountRupiah))}
      cancel={own.new.back}
      tone={action === 'approve' ? 'primary' : 'danger'}
      fields={{ form_id: formId, version: String(payout.version) }}
      rejection={rejection}
    >
      {problem !== null && (
        <Notice tone={problem === own.stale ? 'bad' : 'warning'}>
          <p>{problem}</p>
        </Notice>
      )}
    </ConfirmPage>
  );
}

function factsOf(props: ConfirmPayoutProps): Fact[] {
  const { view, action, subject: payout, holderName, activeSince, balanceAfterRupiah, rejection } = props;
  const { locale } = view;
  const { columns, detail } = PAYOUT_TEXTS[locale.language];
  const { facts } = PAYOUT_FORM_TEXTS[locale.language];
  return [
    {
      name: action === 'approve' && rejection === null ? detail.amount : columns.amount,
      value: <Money rupiah={payout.amountRupiah} />,
      isTotal: true,
    },
    { name: columns.account, value: describeAccount(payout.bankCode, payout.lastFour) },
    { name: facts.holder, value: <span className="strong">{holderName ?? '–'}</span> },
    { name: facts.activeSince, value: activeSince ? <Time at={activeSince} style="day" locale={locale} /> : '–' },
    { name: columns.status, value: <PayoutChip view={view} status={payout.status} /> },
    { name: columns.requestedBy, value: requesterOf(view, payout) },
    { name: facts.requestedAt, value: <Time at={payout.requestedAt} style="short" locale={locale} /> },
    ...(payout.approvedBy === null ? [] : [{ name: columns.approvedBy, value: approverOf(view, payout) }]),
    { name: facts.balanceAfter, value: <Money rupiah={balanceAfterRupiah} /> },
  ];
}

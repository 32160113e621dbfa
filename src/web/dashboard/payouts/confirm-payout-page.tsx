import type { ReactElement } from 'react';
import { describeAccount } from '../../../domain/banks';
import { formatRupiah } from '../../../domain/money';
import type { MemberPayoutAction } from '../../../domain/payout-actions';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, Notice, PageHead, type Fact } from '../../ui/layout';
import { Money, Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { approverOf, PayoutChip, requesterOf, type ListedPayout } from './payout-parts';
import { PAYOUT_TEXTS } from './payout-texts';

/** The bank account of a payout, as a member compares it. */
interface ComparedAccount {
  /** The name that the bank reports; null: not known any more. */
  readonly holderName: string | null;
  readonly activeSince: Date | null;
}

/**
 * `unknown`: the request was sent, and its outcome is not known. `stale`: the payout has changed meanwhile.
 * `unavailable`: nothing was sent.
 */
export type PayoutProblem = 'stale' | 'unknown' | 'unavailable';

interface ConfirmPayoutPage {
  readonly view: MerchantView;
  readonly action: MemberPayoutAction;
  readonly payout: ListedPayout;
  readonly account: ComparedAccount;
  readonly balanceAfterRupiah: number;
  /** Why the action is not possible; null: it is. */
  readonly rejection: string | null;
  /** What happened to the form; null before it is sent. */
  readonly problem: PayoutProblem | null;
}

export function renderConfirmPayoutPage(page: ConfirmPayoutPage): string {
  return renderMerchantPage(page.view, {
    title: PAYOUT_FORM_TEXTS[page.view.locale.language][page.action].title,
    current: 'payouts',
    live: 'none',
    children: <ConfirmPayout {...page} />,
  });
}

function ConfirmPayout(page: ConfirmPayoutPage): ReactElement {
  const { view, action, payout, rejection, problem } = page;
  const { paths, texts } = view;
  const own = PAYOUT_FORM_TEXTS[view.locale.language];
  const back = paths.payout(payout.referenceId);
  const problems = { stale: own.stale, unknown: own.unknown, unavailable: texts.confirm.unavailable };
  return (
    <div className="narrow">
      <PageHead title={own[action].title} back={{ href: back, label: payout.referenceId }} />
      <div className="stack">
        {problem !== null && (
          <Notice tone={problem === 'stale' ? 'bad' : 'warning'}>
            <p>{problems[problem]}</p>
          </Notice>
        )}
        <Card>
          <Facts facts={factsOf(page)} />
        </Card>
        <p className="text">{own[action].text}</p>
        <ConfirmForm
          action={paths.payoutAction(payout.referenceId, action)}
          label={own[action].button(formatRupiah(payout.amountRupiah))}
          tone={action === 'approve' ? 'primary' : 'danger'}
          fields={{ version: String(payout.version) }}
          rejection={rejection}
        >
          <a className="button wide-button" href={back}>
            {own.new.back}
          </a>
        </ConfirmForm>
      </div>
    </div>
  );
}

function factsOf({ view, action, payout, account, balanceAfterRupiah, rejection }: ConfirmPayoutPage): Fact[] {
  const { locale } = view;
  const { columns, detail } = PAYOUT_TEXTS[locale.language];
  const { facts } = PAYOUT_FORM_TEXTS[locale.language];
  const { activeSince } = account;
  return [
    {
      name: action === 'approve' && rejection === null ? detail.amount : columns.amount,
      value: <Money rupiah={payout.amountRupiah} />,
      isTotal: true,
    },
    { name: columns.account, value: describeAccount(payout.bankCode, payout.lastFour) },
    { name: facts.holder, value: <span className="strong">{account.holderName ?? '–'}</span> },
    { name: facts.activeSince, value: activeSince ? <Time at={activeSince} style="day" locale={locale} /> : '–' },
    { name: columns.status, value: <PayoutChip view={view} status={payout.status} /> },
    { name: columns.requestedBy, value: requesterOf(view, payout) },
    { name: facts.requestedAt, value: <Time at={payout.requestedAt} style="short" locale={locale} /> },
    ...(payout.approvedBy === null ? [] : [{ name: columns.approvedBy, value: approverOf(view, payout) }]),
    { name: facts.balanceAfter, value: <Money rupiah={balanceAfterRupiah} /> },
  ];
}

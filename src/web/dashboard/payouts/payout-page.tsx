import type { ReactElement } from 'react';
import type { BalanceTransactionKind } from '../../../domain/balance';
import { describeAccount } from '../../../domain/banks';
import { formatRupiah } from '../../../domain/money';
import type { Rail } from '../../../domain/payout-rails';
import { BackLink, Card, DoneNotice, Facts, type Fact } from '../../ui/layout';
import { OfferedActionButton, type OfferedAction } from '../../ui/offered-action';
import { EmptyState } from '../../ui/table';
import { Timeline } from '../../ui/timeline';
import { Id, Money, Time } from '../../ui/values';
import { LineTable } from '../balance/line-table';
import { bankAccountPath } from '../bank-account/bank-account-paths';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import type { TimedEntry } from '../payments/payment-page';
import { approverOf, PayoutChip, requesterOf, type ListedPayout } from './payout-parts';
import { exportPayoutLinesPath, payoutPagePath, payoutsPath } from './payout-paths';
import { PAYOUT_TEXTS, RAIL_NAMES } from './payout-texts';

interface ShownPayout extends ListedPayout {
  readonly grossRupiah: number;
  readonly rail: Rail;
  readonly lineCount: number;
  readonly bankReference: string | null;
  readonly failureReason: string | null;
}

interface PaidLine {
  readonly postingId: number;
  readonly kind: BalanceTransactionKind;
  readonly amountRupiah: number;
  readonly occurredAt: Date;
  readonly referenceId: string | null;
}

export interface PayoutPage {
  readonly view: MerchantView;
  readonly payout: ShownPayout;
  /** Whether the page follows it. */
  readonly isOpen: boolean;
  readonly done: 'requested' | 'approved' | 'cancelled' | null;
  /** The status in a sentence. */
  readonly sentence: string;
  readonly actions: readonly OfferedAction[];
  readonly entries: readonly TimedEntry[];
  readonly lines: readonly PaidLine[];
  readonly isFirstPage: boolean;
  /** The last line of this page, if there are more; else null. */
  readonly moreAfter: number | null;
}

export function renderPayoutPage(page: PayoutPage): string {
  const { view, payout, isOpen } = page;
  return renderMerchantPage(view, {
    title: `${PAYOUT_TEXTS[view.locale.language].title} · ${formatRupiah(payout.amountRupiah)}`,
    current: 'payouts',
    live: isOpen ? 'poll' : 'none',
    children: <PayoutView {...page} />,
  });
}

function PayoutView(page: PayoutPage): ReactElement {
  const { view, payout, done, entries } = page;
  const { title, detail } = PAYOUT_TEXTS[view.locale.language];
  const version = String(payout.version);
  const timed = entries.map(({ atMs, ...entry }) => ({
    ...entry,
    time: <Time at={new Date(atMs)} style="full" locale={view.locale} />,
  }));
  return (
    <>
      <BackLink href={payoutsPath.to(view)} label={title} />
      <div className="stack">
        <DoneNotice text={done && detail.done[done]} isLive />
        <div className="columns">
          <div className="stack">
            <Head {...page} />
            <Card title={detail.timeline} part="timeline" version={`${version}-${entries.length}`}>
              <Timeline entries={timed} />
            </Card>
          </div>
          <Card title={detail.facts} part="facts" version={version}>
            <Facts facts={factsOf(page)} />
          </Card>
        </div>
        <Lines {...page} />
      </div>
    </>
  );
}

/** Amount, status, what happens next, and what can be done about it. */
function Head({ view, payout, sentence, actions }: PayoutPage): ReactElement {
  const label = PAYOUT_TEXTS[view.locale.language].statuses[payout.status];
  return (
    <section className="card" data-part="head" data-version={`${payout.version}-${sentence}`}>
      <div className="card-body">
        <h1 className="amount-line">
          <span className="amount">
            <Money rupiah={payout.amountRupiah} />
          </span>{' '}
          <PayoutChip view={view} status={payout.status} />
        </h1>
        <span className="unseen" data-announce="">
          {label}
        </span>
        <code className="dim">{payout.referenceId}</code>
        <p className="next">{sentence}</p>
        {actions.length > 0 && (
          <div className="buttons">
            {actions.map((action) => (
              <OfferedActionButton key={action.href} {...action} />
            ))}
          </div>
        )}
      </div>
    </section>
  );
}

function factsOf({ view, payout }: PayoutPage): Fact[] {
  const { locale, texts } = view;
  const { detail, columns } = PAYOUT_TEXTS[locale.language];
  const account = describeAccount(payout.bankCode, payout.lastFour);
  return [
    { name: columns.reference, value: <Id value={payout.referenceId} copy={texts.copy} /> },
    { name: columns.account, value: <a href={bankAccountPath.to(view)}>{account}</a> },
    { name: columns.requestedBy, value: requesterOf(view, payout) },
    { name: columns.approvedBy, value: approverOf(view, payout) },
    ...(payout.bankReference === null
      ? []
      : [{ name: detail.bankReference, value: <Id value={payout.bankReference} copy={texts.copy} /> }]),
    ...(payout.failureReason === null ? [] : [{ name: detail.reason, value: payout.failureReason }]),
    { name: detail.gross, value: <Money rupiah={payout.grossRupiah} /> },
    { name: detail.fee(RAIL_NAMES[payout.rail]), value: <Money rupiah={-payout.feeRupiah} /> },
    ...resultFacts(view, payout),
  ];
}

/** What the merchant receives, or has received. A returned payout leaves its fee. */
function resultFacts({ locale, texts }: MerchantView, { status, amountRupiah, feeRupiah }: ShownPayout): Fact[] {
  const { detail, columns } = PAYOUT_TEXTS[locale.language];
  const amount = <Money rupiah={amountRupiah} />;
  switch (status) {
    case 'requested':
    case 'approved':
    case 'submitted':
    case 'completed':
      return [{ name: detail.amount, value: amount, isTotal: true }];
    case 'failed':
    case 'cancelled':
      return [{ name: columns.amount, value: amount }];
    case 'returned':
      return [
        { name: columns.amount, value: amount },
        { name: texts.confirm.refund.fee, value: <Money rupiah={feeRupiah} />, isTotal: true },
      ];
  }
}

/** The changes of the balance that it pays. */
function Lines({ view, payout, lines, isFirstPage, moreAfter }: PayoutPage): ReactElement {
  const { detail } = PAYOUT_TEXTS[view.locale.language];
  const { lineCount } = payout;
  const path = { code: view.code, ref: payout.referenceId };
  const csv = (
    <a href={exportPayoutLinesPath.to(path)} download>
      {detail.exportLines}
    </a>
  );
  return (
    <div id="lines">
      <Card title={detail.lines(lineCount)} aside={lineCount > 0 ? csv : undefined}>
        <LineTable
          view={view}
          lines={lines}
          timeStyle="short"
          empty={<EmptyState icon="payouts" text={detail.noLines} />}
        />
        {(!isFirstPage || moreAfter !== null) && (
          <nav className="pager" aria-label={detail.pages}>
            {isFirstPage ? <span /> : <a href={payoutPagePath.to(path)}>‹ {detail.firstLines}</a>}
            {moreAfter === null ? (
              <span />
            ) : (
              <a href={`${payoutPagePath.to(path, { after: String(moreAfter) })}#lines`}>{detail.moreLines} ›</a>
            )}
          </nav>
        )}
      </Card>
    </div>
  );
}

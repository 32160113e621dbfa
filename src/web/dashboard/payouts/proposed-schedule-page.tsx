import type { ReactElement } from 'react';
import type { ProposedSettings } from '../../../domain/payout-schedule';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, PageHead } from '../../ui/layout';
import { Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { PAYOUT_TEXTS } from './payout-texts';
import { SCHEDULE_TEXTS } from './schedule-texts';

interface ProposedSchedulePage {
  readonly view: MerchantView;
  readonly proposed: ProposedSettings;
  /** The next automatic payout in words, once it is approved. */
  readonly nextRun: string;
  /** Why the member cannot approve it; null: they can. */
  readonly rejection: string | null;
}

export function renderProposedSchedulePage(page: ProposedSchedulePage): string {
  return renderMerchantPage(page.view, {
    title: SCHEDULE_TEXTS[page.view.locale.language].proposal.title,
    current: 'payouts',
    live: 'none',
    children: <Proposal {...page} />,
  });
}

function Proposal({ view, proposed, nextRun, rejection }: ProposedSchedulePage): ReactElement {
  const { schedule, schedules, next, proposal } = SCHEDULE_TEXTS[view.locale.language];
  const { paths, locale } = view;
  const facts = [
    { name: schedule, value: <span className="strong">{schedules[proposed.schedule]}</span> },
    { name: next, value: nextRun },
    { name: proposal.by, value: proposed.proposerName ?? '–' },
    { name: proposal.at, value: <Time at={proposed.proposedAt} style="short" locale={locale} /> },
  ];
  const fields = { proposal: proposed.id };
  return (
    <div className="narrow">
      <PageHead title={proposal.title} back={{ href: paths.payouts, label: PAYOUT_TEXTS[locale.language].title }} />
      <div className="stack">
        <Card>
          <Facts facts={facts} />
        </Card>
        <p className="text">{proposal.text}</p>
        <ConfirmForm
          action={paths.proposedSchedule}
          label={proposal.approve}
          tone="primary"
          fields={{ ...fields, decision: 'approve' }}
          rejection={rejection}
        />
        <ConfirmForm
          action={paths.proposedSchedule}
          label={proposal.withdraw}
          tone="danger"
          fields={{ ...fields, decision: 'withdraw' }}
          rejection={null}
        />
      </div>
    </div>
  );
}

import { randomUUID } from 'node:crypto';
import type { ReactElement } from 'react';
import { z } from 'zod';
import type { ProposedSettings } from '../../../domain/payout-schedule';
import type { EndpointResponse } from '../../../http/endpoint';
import { isRunRejection } from '../../../services/operations/rejections';
import { approvePayoutSettings } from '../../../services/payouts/approve-payout-settings';
import { withdrawPayoutSettings } from '../../../services/payouts/withdraw-payout-settings';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import { ConfirmFrame } from '../../ui/confirm-page';
import { ConfirmForm } from '../../ui/form';
import { Time } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderMerchantPage } from '../merchant-page';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { SECOND_MEMBER_TEXTS } from '../texts/second-member-texts';
import { memberActor } from '../user-identity';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { payoutsPath, proposedSchedulePath, schedulePath } from './payout-paths';
import { PAYOUT_TEXTS } from './payout-texts';
import { nextRunText, SCHEDULE_TEXTS } from './schedule-texts';

type ProposalDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const AUTHORISE = { area: 'payouts', level: 'authorise' } as const;
const ROUTE = { path: proposedSchedulePath.pattern, stepUp: true } as const;

/** The page has the buttons of two operations, so it is no page of `memberFormPages`. */
const proposedSchedulePage = memberPage(AUTHORISE, {
  ...ROUTE,
  method: 'get',
  fields: NO_FIELDS,
  handler: async (dependencies: ProposalDependencies, visit) => proposalPage(dependencies, visit, 200),
});

const DECISIONS = { approve: approvePayoutSettings, withdraw: withdrawPayoutSettings } as const;

const decideProposedSchedule = memberPage(AUTHORISE, {
  ...ROUTE,
  method: 'post',
  fields: z.object({ proposal: z.uuid(), decision: z.enum(['approve', 'withdraw']) }),
  async handler(dependencies: ProposalDependencies, visit, form) {
    if (!form.ok) return proposalPage(dependencies, visit, 422);
    const { proposal, decision } = form.values;
    const call = { path: {}, input: { proposal }, formId: randomUUID() };
    const { outcome } = await DECISIONS[decision].run(dependencies, memberActor(visit), call);
    if (outcome !== 'done') return proposalPage(dependencies, visit, 409);
    const view = merchantView(dependencies, visit);
    return redirectTo(decision === 'approve' ? payoutsPath.to(view, { done: 'saved' }) : schedulePath.to(view));
  },
});

export const proposedSchedulePages = [proposedSchedulePage, decideProposedSchedule];

/** The page of a proposal, or of the schedule if there is none. */
async function proposalPage(
  dependencies: ProposalDependencies,
  visit: MemberVisit,
  status: number,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const { subject, rejection } = await approvePayoutSettings.preview(dependencies, memberActor(visit), {});
  const { proposed } = subject;
  if (proposed === null || rejection?.reason === 'superseded') return redirectTo(schedulePath.to(view));
  const { rejections, proposal } = SCHEDULE_TEXTS[view.locale.language];
  const texts = {
    ...SECOND_MEMBER_TEXTS[view.locale.language],
    own_proposal: () => rejections.own_proposal,
  };
  const text = rejection && (isRunRejection(rejection) ? merchantRejection(view) : texts[rejection.reason]());
  const children = <Proposal view={view} proposed={proposed} now={visit.now} rejection={text} />;
  const page = { title: proposal.title, current: 'payouts', live: 'none', children } as const;
  return pageResponse(renderMerchantPage(view, page), status);
}

interface ProposalProps {
  readonly view: MerchantView;
  readonly proposed: ProposedSettings;
  readonly now: Date;
  /** Why the member cannot approve it; null: they can. */
  readonly rejection: string | null;
}

function Proposal({ view, proposed, now, rejection }: ProposalProps): ReactElement {
  const { schedule, schedules, next, proposal } = SCHEDULE_TEXTS[view.locale.language];
  const { locale } = view;
  const facts = [
    { name: schedule, value: <span className="strong">{schedules[proposed.schedule]}</span> },
    { name: next, value: nextRunText(locale, proposed, now) },
    { name: proposal.by, value: proposed.proposerName ?? '–' },
    { name: proposal.at, value: <Time at={proposed.proposedAt} style="short" locale={locale} /> },
  ];
  const back = { href: payoutsPath.to(view), label: PAYOUT_TEXTS[locale.language].title };
  const [action, fields] = [proposedSchedulePath.to(view), { proposal: proposed.id }];
  return (
    <ConfirmFrame title={proposal.title} back={back} facts={facts} explanation={proposal.text}>
      <ConfirmForm
        action={action}
        label={proposal.approve}
        tone="primary"
        fields={{ ...fields, decision: 'approve' }}
        rejection={rejection}
      />
      <ConfirmForm
        action={action}
        label={proposal.withdraw}
        tone="danger"
        fields={{ ...fields, decision: 'withdraw' }}
        rejection={null}
      >
        <a className="button wide-button back-button" href={back.href}>
          {PAYOUT_FORM_TEXTS[locale.language].new.back}
        </a>
      </ConfirmForm>
    </ConfirmFrame>
  );
}

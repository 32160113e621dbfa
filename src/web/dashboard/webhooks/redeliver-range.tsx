import { randomUUID } from 'node:crypto';
import type { ReactElement } from 'react';
import { z } from 'zod';
import type { EndpointResponse } from '../../../http/endpoint';
import { MAX_REDELIVERED, redeliver } from '../../../services/webhooks/redeliver';
import { memberPage, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FormResult } from '../../page/read-form';
import { ConfirmPage } from '../../ui/confirm-page';
import { endOfDay, startOfDay } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderDeveloperPage } from '../developer-page';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { memberActor } from '../user-identity';
import { DELIVERY_TEXTS } from './delivery-texts';
import { deliveriesPath, redeliverRangePath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

const MANAGE = { area: 'developers', level: 'manage' } as const;

type RangeDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const rangeSchema = z
  .object({ from: z.iso.date(), to: z.iso.date() })
  .refine(({ from, to }) => from <= to, { error: 'order' });
type Days = z.output<typeof rangeSchema>;

/** The query of the page names its object, so it is no page of `memberFormPages`. */
const redeliverRangeForm = memberPage(MANAGE, {
  method: 'get',
  path: redeliverRangePath.pattern,
  fields: rangeSchema,
  handler: async (dependencies: RangeDependencies, visit, form) => rangePage(dependencies, visit, form, 200),
});

const redeliverRangeByForm = memberPage(MANAGE, {
  method: 'post',
  path: redeliverRangePath.pattern,
  fields: rangeSchema,
  async handler(dependencies: RangeDependencies, visit, form) {
    if (!form.ok) return rangePage(dependencies, visit, form, 409);
    const call = { path: pathOf(form.values, visit), input: {}, formId: randomUUID() };
    const result = await redeliver.run(dependencies, memberActor(visit), call);
    if (result.outcome !== 'done') return rangePage(dependencies, visit, form, 409);
    const query = { status: 'dead', ...form.values, redelivered: String(result.value.redelivered) };
    return redirectTo(deliveriesPath.to({ code: visit.member.merchantCode }, query));
  },
});

export const redeliverRangePages = [redeliverRangeForm, redeliverRangeByForm];

function pathOf({ from, to }: Days, { member: { timeZone } }: MemberVisit) {
  const until = new Date(endOfDay(to, timeZone).getTime() + 1);
  return { deliveries: { since: startOfDay(from, timeZone), until } };
}

/** @param status of a range that can be redelivered, and of another one */
async function rangePage(
  dependencies: RangeDependencies,
  visit: MemberVisit,
  form: FormResult<Days>,
  status: number,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const { title } = DELIVERY_TEXTS[view.locale.language].range;
  const found = form.ok ? await countDead(dependencies, visit, form.values) : INVALID;
  const { from = '–', to = '–' } = form.sent;
  const children = <Range view={view} from={from} to={to} {...found} />;
  return pageResponse(renderDeveloperPage(view, { title, section: 'deliveries', live: 'none', children }), status);
}

interface FoundRange {
  readonly count: number;
  /** Null: it can be redelivered. */
  readonly rejection: 'days' | 'none' | 'merchant_state' | null;
}

const INVALID: FoundRange = { count: 0, rejection: 'days' };

async function countDead(dependencies: RangeDependencies, visit: MemberVisit, days: Days): Promise<FoundRange> {
  const { subject, rejection } = await redeliver.preview(dependencies, memberActor(visit), pathOf(days, visit));
  const count = (subject.kind === 'range' && subject.count) || 0;
  if (rejection === null) return { count, rejection };
  return { count, rejection: count === 0 ? 'none' : 'merchant_state' };
}

interface RangeProps extends FoundRange {
  readonly view: MerchantView;
  readonly from: string;
  readonly to: string;
}

function Range({ view, from, to, count, rejection }: RangeProps): ReactElement {
  const { range, title, filter } = DELIVERY_TEXTS[view.locale.language];
  const reasons = { days: range.days, none: range.none, merchant_state: merchantRejection(view) };
  return (
    <ConfirmPage
      title={range.title}
      back={{ href: deliveriesPath.to(view), label: title }}
      facts={[
        { name: filter.from, value: from },
        { name: filter.to, value: to },
        // It may be more than what was counted.
        { name: range.count, value: count > MAX_REDELIVERED ? `${MAX_REDELIVERED}+` : String(count) },
      ]}
      explanation={range.text}
      action={redeliverRangePath.to(view)}
      button={range.button}
      cancel={WEBHOOK_TEXTS[view.locale.language].form.cancel}
      tone="primary"
      fields={{ from, to }}
      rejection={rejection && reasons[rejection]}
    />
  );
}

import { z } from 'zod';
import { countDeadDeliveries } from '../../../db/webhooks/count-dead-deliveries';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { redeliverRange } from '../../../services/webhooks/webhook-redelivery';
import { memberPage, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FormResult } from '../../page/read-form';
import { endOfDay, startOfDay } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { DELIVERY_TEXTS } from './delivery-texts';
import { renderRedeliverRangePage } from './redeliver-range-page';

const MANAGE = { area: 'developers', level: 'manage' } as const;
const PATH = '/m/:code/developers/deliveries/redeliver';

/** How many are redelivered in one step: about 30,000 buffers. */
const MAX_REDELIVERED = 1_000;

type RangeDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const rangeSchema = z
  .object({ from: z.iso.date(), to: z.iso.date() })
  .refine(({ from, to }) => from <= to, { error: 'order' });
type RangeForm = FormResult<z.output<typeof rangeSchema>>;

const redeliverRangeForm = memberPage(MANAGE, {
  method: 'get',
  path: PATH,
  fields: rangeSchema,
  handler: async (dependencies: RangeDependencies, visit, form) =>
    (await rangePage(dependencies, visit, form, 200)).response,
});

const redeliverRangeByForm = memberPage(MANAGE, {
  method: 'post',
  path: PATH,
  fields: rangeSchema,
  async handler(dependencies: RangeDependencies, visit, form) {
    const { response, isPossible } = await rangePage(dependencies, visit, form, 409);
    if (!form.ok || !isPossible) return response;
    const { merchantId } = visit.member;
    const view = merchantView(dependencies, visit);
    const { from, to } = form.values;
    const action = { action: 'webhook.redeliver', target: `${from}/${to}` } as const;
    const { redelivered } = await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
      redeliverRange(dependencies.db, { ...daysOf(form.values, visit), merchantId, limit: MAX_REDELIVERED }),
    );
    return redirectTo(view.paths.deliveryList({ status: 'dead', from, to, redelivered: String(redelivered) }));
  },
});

export const redeliverRangePages = [redeliverRangeForm, redeliverRangeByForm];

function daysOf({ from, to }: z.output<typeof rangeSchema>, { member }: MemberVisit) {
  return {
    since: startOfDay(from, member.timeZone),
    until: new Date(endOfDay(to, member.timeZone).getTime() + 1),
  };
}

interface RangeResponse {
  readonly response: EndpointResponse;
  readonly isPossible: boolean;
}

async function rangePage(
  dependencies: RangeDependencies,
  visit: MemberVisit,
  form: RangeForm,
  rejectedStatus: number,
): Promise<RangeResponse> {
  const view = merchantView(dependencies, visit);
  const { range } = DELIVERY_TEXTS[view.locale.language];
  const { merchantId } = visit.member;
  const { from = '–', to = '–' } = form.sent;
  const count = form.ok
    ? await countDeadDeliveries(dependencies.db, { merchantId, ...daysOf(form.values, visit) }, MAX_REDELIVERED + 1)
    : 0;
  const reason = count === 0 ? range.none : merchantRejection(view);
  const rejection = form.ok ? reason : range.days;
  const shown = count > MAX_REDELIVERED ? `${MAX_REDELIVERED}+` : String(count);
  const html = renderRedeliverRangePage({ view, from, to, count: shown, rejection });
  return { response: pageResponse(html, rejection === null ? 200 : rejectedStatus), isPossible: rejection === null };
}

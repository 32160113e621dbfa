import { z } from 'zod';
import { PAYOUT_SCHEDULES, WEEKDAYS, type PayoutSettings } from '../../../domain/payout-schedule';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { getPayoutSettings, setPayoutSettings } from '../../../services/payouts/payout-settings';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { nextRunText } from './next-run';
import { renderSchedulePage } from './schedule-page';
import { SCHEDULE_TEXTS } from './schedule-texts';

type ScheduleDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const AUTHORISE = { area: 'payouts', level: 'authorise' } as const;
const PATH = '/m/:code/payouts/schedule';

/** `50.000` and `50000`: dots separate thousands. */
const AMOUNT = /^([1-9]\d{0,2}(\.\d{3}){1,3}|[1-9]\d{0,11})$/;

/** Only a weekly schedule has a day: that of another one is ignored. */
const scheduleSchema = z
  .object({
    schedule: z.enum(PAYOUT_SCHEDULES, { error: 'schedule' }),
    weekday: z.coerce.number().pipe(z.literal(WEEKDAYS)).optional().catch(undefined),
    minimum: z
      .string({ error: 'minimum' })
      .regex(AMOUNT, { error: 'minimum' })
      .transform((text) => Number(text.replaceAll('.', ''))),
  })
  .transform(({ schedule, weekday, minimum: minimumRupiah }, context): PayoutSettings => {
    if (schedule !== 'weekly') return { schedule, weekday: null, minimumRupiah };
    if (weekday !== undefined) return { schedule, weekday, minimumRupiah };
    context.addIssue({ code: 'custom', message: 'weekday', path: ['weekday'] });
    return z.NEVER;
  });

const scheduleForm = memberPage(AUTHORISE, {
  method: 'get',
  path: PATH,
  stepUp: true,
  fields: NO_FIELDS,
  handler: async (dependencies: ScheduleDependencies, visit) => schedulePage(dependencies, visit),
});

const saveSchedule = memberPage(AUTHORISE, {
  method: 'post',
  path: PATH,
  stepUp: true,
  fields: scheduleSchema,
  async handler(dependencies: ScheduleDependencies, visit, form) {
    if (!form.ok) return schedulePage(dependencies, visit, form);
    const { db } = dependencies;
    const user = { merchantId: visit.member.merchantId, userId: visit.session.user.id };
    const detail = JSON.stringify(form.values);
    const action = { action: 'payout_settings.set', target: user.merchantId, detail } as const;
    await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
      setPayoutSettings(db, user, form.values, visit.now),
    );
    return redirectTo(`${merchantView(dependencies, visit).paths.payouts}?done=saved`);
  },
});

export const schedulePages = [scheduleForm, saveSchedule];

interface SentForm {
  readonly sent: SentFields;
  readonly errors: FieldErrors;
}

async function schedulePage(
  dependencies: ScheduleDependencies,
  visit: MemberVisit,
  form?: SentForm,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const settings = await getPayoutSettings(dependencies.db, visit.member.merchantId);
  const known: Readonly<Partial<Record<string, string>>> = SCHEDULE_TEXTS[view.locale.language].errors;
  const entries = Object.entries(form?.errors ?? {}).map(([name, code]) => [name, known[code] ?? known.form ?? code]);
  const values = form?.sent ?? {
    schedule: settings.schedule,
    weekday: String(settings.weekday ?? ''),
    minimum: settings.minimumRupiah.toLocaleString('id'),
  };
  const nextRun = nextRunText(view.locale, settings, visit.now);
  const html = renderSchedulePage({ view, values, errors: Object.fromEntries(entries), nextRun });
  return pageResponse(html, form ? 422 : 200);
}

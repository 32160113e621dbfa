import { z } from 'zod';
import { PAYOUT_SCHEDULES, WEEKDAYS, type PayoutSettings } from '../../../domain/payout-schedule';
import { ConflictError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import {
  findSettingsRule,
  getPayoutSettings,
  getProposedSettings,
  setPayoutSettings,
} from '../../../services/payouts/payout-settings';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { actingUser, userIdentity } from '../user-identity';
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
  handler: async (dependencies: ScheduleDependencies, visit) => schedulePage(dependencies, visit, { status: 200 }),
});

const saveSchedule = memberPage(AUTHORISE, {
  method: 'post',
  path: PATH,
  stepUp: true,
  fields: scheduleSchema,
  async handler(dependencies: ScheduleDependencies, visit, form) {
    if (!form.ok) return schedulePage(dependencies, visit, { status: 422, ...form });
    const { db } = dependencies;
    const user = actingUser(visit);
    const detail = JSON.stringify(form.values);
    const action = { action: 'payout_settings.set', target: user.merchantId, detail } as const;
    try {
      const outcome = await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
        setPayoutSettings(db, user, form.values, visit.now),
      );
      const { paths } = merchantView(dependencies, visit);
      return redirectTo(outcome === 'proposed' ? paths.proposedSchedule : `${paths.payouts}?done=saved`);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return schedulePage(dependencies, visit, { status: 409, sent: form.sent });
    }
  },
});

export const schedulePages = [scheduleForm, saveSchedule];

interface FormState {
  readonly status: number;
  /** Absent: the form has what is saved. */
  readonly sent?: SentFields;
  readonly errors?: FieldErrors;
}

async function schedulePage(
  dependencies: ScheduleDependencies,
  visit: MemberVisit,
  { status, sent, errors = {} }: FormState,
): Promise<EndpointResponse> {
  const { db } = dependencies;
  const view = merchantView(dependencies, visit);
  const texts = SCHEDULE_TEXTS[view.locale.language];
  const { merchantId } = visit.member;
  const [settings, { rejection }, proposed] = await Promise.all([
    getPayoutSettings(db, merchantId),
    findSettingsRule(db, actingUser(visit)),
    getProposedSettings(db, merchantId),
  ]);
  const known: Readonly<Partial<Record<string, string>>> = texts.errors;
  const entries = Object.entries(errors).map(([name, code]) => [name, known[code] ?? known.form ?? code]);
  const values = sent ?? {
    schedule: settings.schedule,
    weekday: String(settings.weekday ?? ''),
    minimum: settings.minimumRupiah.toLocaleString('id'),
  };
  const nextRun = nextRunText(view.locale, settings, visit.now);
  const html = renderSchedulePage({
    view,
    rejection: rejection && texts.rejections[rejection],
    isProposed: proposed !== undefined,
    values,
    errors: Object.fromEntries(entries),
    nextRun,
  });
  return pageResponse(html, status);
}

import { z } from 'zod';
import { listFormerMemberNames, listMemberNames } from '../../../db/identity/members';
import { readShift, type ShiftPayment } from '../../../db/payments/read-shift';
import { seesShiftsOfOthers } from '../../../domain/member-roles';
import { RECEIVED_STATUSES } from '../../../domain/payment-transitions';
import type { CsvColumns } from '../../../lib/csv';
import { delimiterField, type CsvExport } from '../../page/export-csv';
import { PageError } from '../../page/page-error';
import { memberPage, redirectTo, type MemberVisit } from '../../page/page-route';
import { formatExactTime } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { exportRecorded, type ExportDependencies } from '../export-recorded';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { exportShiftPath, shiftPath } from './counter-paths';
import { COUNTER_TEXTS } from './counter-texts';
import { fieldOfTime, shiftFields, shiftTime } from './shift-fields';
import { renderShiftPage, type ShiftMember } from './shift-page';

const MANAGE = { area: 'payments', level: 'manage' } as const;

/** What a member created in a time, and whether it equals the balance. */
export const showShift = memberPage(MANAGE, {
  method: 'get',
  path: shiftPath.pattern,
  fields: shiftFields,
  async handler({ db, environment }: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
    const view = merchantView({ environment }, visit);
    const { zone, language } = view.locale;
    const { errors } = COUNTER_TEXTS[language].shift;
    const member = query.ok ? query.values.member : undefined;
    const members = await findMembers(db, view, visit);
    const shown = requireMember(members, member ?? view.userId);
    const time = shiftTime(query.ok ? query.values : {}, { now: visit.now, zone });
    const own = { merchantId: visit.member.merchantId, userId: shown.userId };
    const html = renderShiftPage({
      view,
      member: shown,
      members,
      time,
      sent: {
        from: query.sent.from ?? fieldOfTime(time.from, zone),
        to: query.sent.to ?? fieldOfTime(time.to, zone),
      },
      errors: query.ok
        ? {}
        : Object.fromEntries(Object.entries(query.errors).map(([field, code]) => [field, textOf(errors, code)])),
      shift: query.ok ? await readShift(db, { ...own, ...time }) : null,
    });
    return pageResponse(html, query.ok ? 200 : 422);
  },
});

type ErrorTexts = Readonly<Record<string, string>> & { readonly form: string };

const textOf = (texts: ErrorTexts, code: string) => texts[code] ?? texts.form;

/** Whose shifts the user may see. What a member took stays in the books of the merchant when the member leaves. */
async function findMembers(
  db: DashboardDependencies['db'],
  view: MerchantView,
  { member }: MemberVisit,
): Promise<readonly ShiftMember[]> {
  const self = { userId: view.userId, name: view.userName, hasLeft: false };
  if (!seesShiftsOfOthers(member.role)) return [self];
  // The list of a large team ends before some of its members.
  const others = (await listMemberNames(db, member.merchantId)).filter(({ userId }) => userId !== self.userId);
  const former = await listFormerMemberNames(db, member.merchantId);
  return [
    self,
    ...others.map(({ userId, name }) => ({ userId, name, hasLeft: false })),
    ...former.map(({ userId, name }) => ({ userId, name, hasLeft: true })),
  ];
}

/** @throws PageError `not_found` also for a member whose shift the user may not see */
function requireMember(members: readonly ShiftMember[], userId: string): ShiftMember {
  const found = members.find((member) => member.userId === userId);
  if (found) return found;
  throw new PageError('not_found', 'no shift of this member is shown to the user');
}

/**
 * The rows of the page as CSV: as there, only who sees the balance sees what of it is settled. The net is that of
 * payments whose money the merchant has.
 */
export const exportShift = memberPage(MANAGE, {
  method: 'get',
  path: exportShiftPath.pattern,
  fields: z.intersection(shiftFields, z.object({ delimiter: delimiterField })),
  async handler(dependencies: ExportDependencies, visit, query) {
    const view = merchantView(dependencies, visit);
    // The page names what is not possible.
    if (!query.ok) return redirectTo(shiftPath.to(view, query.sent));
    const { delimiter, member: wanted, ...sent } = query.values;
    const { merchantId } = visit.member;
    const { userId } = requireMember(await findMembers(dependencies.db, view, visit), wanted ?? view.userId);
    const time = shiftTime(sent, { now: visit.now, zone: view.locale.zone });
    const { figures, payments } = await readShift(dependencies.db, { merchantId, userId, ...time });
    if (figures.isTooLong) return redirectTo(shiftPath.to(view, query.sent));
    const source = sourceOf(view, payments, time);
    const action = { action: 'shift.export', target: userId, detail: JSON.stringify(query.sent) } as const;
    return exportRecorded(dependencies, visit, { source, delimiter, action });
  },
});

/** What only who sees the balance sees. */
const BALANCE_COLUMNS: CsvColumns<ShiftPayment> = {
  net: ({ status, netRupiah }) => (RECEIVED_STATUSES.includes(status) ? netRupiah : null),
  settled: ({ settledRupiah }) => settledRupiah,
};

function sourceOf(
  view: MerchantView,
  payments: readonly ShiftPayment[],
  { from }: { readonly from: Date },
): CsvExport<ShiftPayment> {
  const { zone } = view.locale;
  return {
    fileName: `shift-${formatExactTime(from, zone).slice(0, 10)}`,
    columns: {
      created_at: ({ createdAt }) => formatExactTime(createdAt, zone),
      reference_id: ({ referenceId }) => referenceId,
      order: ({ merchantReferenceId }) => merchantReferenceId,
      total: ({ totalRupiah }) => totalRupiah,
      status: ({ status }) => status,
      ...(view.rightRejection('balance', 'view') === null ? BALANCE_COLUMNS : {}),
    },
    // A shift is bounded, and of one snapshot.
    readPage: (after, limit) => {
      const first = after === null ? 0 : payments.indexOf(after) + 1;
      return Promise.resolve(payments.slice(first, first + limit));
    },
    // A shift has fewer rows than an export.
    limitLine: () => '',
  };
}

import { z } from 'zod';
import { findEnvironment } from '../../db/connection/environment';
import type { Queryable } from '../../db/connection/pool';
import { coverAllAmounts, FEE_CLASSES, MAX_FEE_BANDS } from '../../domain/fee-classes';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import { dayInWib } from '../../domain/wib';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { insertFeeSchedules, RATE_REJECTIONS, type NewFeeSchedule } from './fee-rates';

const band = z.object({ fromRupiah: z.int().min(0).max(MAX_TOTAL_RUPIAH), basisPoints: z.int().min(0).max(10_000) });
const schedule = z.object({
  class: z.enum(FEE_CLASSES),
  bands: z.array(band).min(1).max(MAX_FEE_BANDS).refine(coverAllAmounts),
  /** Absent: the next one. An approved request names it. */
  version: z.int().optional(),
});

type Versions = Readonly<Record<string, number>>;

/** Writes the rates of classes from a day in WIB on: of all of them, or of none. In production two operators decide. */
export const setFeeSchedules = new Operation({
  name: 'fee.set_schedules',
  operator: 'all',
  path: z.object({}),
  input: z.object({ validFrom: z.iso.date(), schedules: z.array(schedule).min(1) }),
  ...RATE_REJECTIONS,
  load: async ({ db }: AuditDependencies) => ({
    environment: await findEnvironment(db),
    versions: await findVersions(db),
  }),
  target: ({ input }) => `${input.schedules.map((own) => own.class).join(', ')} from ${input.validFrom}`,
  allows: ({ environment }, _by, input) =>
    environment === 'production' && input !== undefined && input.validFrom <= dayInWib(new Date())
      ? { reason: 'begins_too_early' }
      : null,
  approval: {
    executes: 'database',
    propose: ({ subject, input }) => ({
      parameters: { ...input, schedules: withVersions(subject.versions, input.schedules) },
      store: () => Promise.resolve(),
    }),
  },
  async perform({ needs: { db }, subject, input: { validFrom, schedules } }) {
    const written = await insertFeeSchedules(db, validFrom, withVersions(subject.versions, schedules));
    return written === null ? rejected({ reason: 'superseded' }) : done(written);
  },
});

/** The newest version of each class. */
async function findVersions(db: Queryable): Promise<Versions> {
  const { rows } = await db.query<{ class: string; version: number }>(
    'select class, max(version) as version from fee_schedules group by class',
  );
  return Object.fromEntries(rows.map((row) => [row.class, row.version]));
}

type GivenSchedule = z.output<typeof schedule>;

function withVersions(versions: Versions, schedules: readonly GivenSchedule[]): NewFeeSchedule[] {
  return schedules.map((given) => ({ ...given, version: given.version ?? (versions[given.class] ?? 0) + 1 }));
}

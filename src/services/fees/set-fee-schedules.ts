import { z } from 'zod';
import { findEnvironment } from '../../db/connection/environment';
import type { Queryable } from '../../db/connection/pool';
import { fitClass, MAX_FEE_BANDS, SCHEDULE_CLASSES } from '../../domain/fee-classes';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import { dayInWib } from '../../domain/wib';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { insertFeeSchedules, RATE_REJECTIONS, type NewFeeSchedule } from './fee-rates';

const band = z.object({ fromRupiah: z.int().min(0).max(MAX_TOTAL_RUPIAH), basisPoints: z.int().min(0).max(10_000) });
const schedule = z
  .object({
    class: z.enum(SCHEDULE_CLASSES),
    bands: z.array(band).min(1).max(MAX_FEE_BANDS),
    /** Absent: the next one. An approved request names it. */
    version: z.int().optional(),
  })
  .refine(({ class: own, bands }) => fitClass(own, bands));

interface ScheduleNeeds extends AuditDependencies {
  /** The versions of workers that book the VAT as revenue. Absent: the rates have no VAT, or were requested before. */
  readonly findOlderWorkers?: () => Promise<readonly string[]>;
}

type Versions = Readonly<Record<string, number>>;

/** Writes the rates of classes from a day in WIB on: of all of them, or of none. In production two operators decide. */
export const setFeeSchedules = new Operation({
  name: 'fee.set_schedules',
  operator: 'all',
  path: z.object({}),
  input: z.object({ validFrom: z.iso.date(), schedules: z.array(schedule).min(1) }),
  rejections: { ...RATE_REJECTIONS.rejections, older_worker: { version: z.string() } },
  messages: {
    ...RATE_REJECTIONS.messages,
    older_worker: ({ version }) =>
      `Workers of version ${version} would book the VAT as revenue: end all workers but those of the newest version.`,
  },
  load: async ({ db, findOlderWorkers }: ScheduleNeeds) => ({
    environment: await findEnvironment(db),
    versions: await findVersions(db),
    olderWorker: (await findOlderWorkers?.())?.[0],
  }),
  target: ({ input }) => `${input.schedules.map((own) => own.class).join(', ')} from ${input.validFrom}`,
  allows({ environment, olderWorker }, _by, input) {
    if (environment === 'production' && input !== undefined && input.validFrom <= dayInWib(new Date())) {
      return { reason: 'begins_too_early' };
    }
    return olderWorker === undefined ? null : { reason: 'older_worker', version: olderWorker };
  },
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

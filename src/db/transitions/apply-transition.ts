import type { ActorText, StepActor } from '../../domain/actor';
import { subjectLogId, type Subject } from '../../domain/subject';
import { currentCorrelation } from '../../observability/correlation';
import type { Logger } from '../../observability/logger';
import type { Queryable } from '../connection/pool';
import { bindStatement, type PreparedStatement } from '../connection/statement';
import type { TransitionTables } from './subjects';

/** What every transition needs besides its input. */
export interface TransitionContext {
  readonly db: Queryable;
  /** In the body of each webhook event. */
  readonly environment: string;
  /** Called if a transition wrote deliveries, so that the relay sends them immediately. */
  readonly onDeliveries: () => void;
  /** Has a line for each transition. Absent in commands, which print what they did. */
  readonly log?: Pick<Logger, 'info'>;
}

/** The first parameters of every statement of a transition, in this order. */
export const COMMON_PARAMETERS = ['actor', 'note', 'environment', 'requestId', 'traceparent'] as const;

type CommonParameter = (typeof COMMON_PARAMETERS)[number];

interface SubjectTransition<Parameter extends string> {
  readonly subject: Subject;
  readonly name: string;
  readonly from: string | null;
  readonly statement: PreparedStatement<CommonParameter | Parameter>;
}

interface WrittenRow {
  readonly status: string;
  readonly version: number;
  readonly deliveries: number;
}

/** The row that the statement returned; undefined if it changed nothing. */
export async function executeTransition<Row extends object, Parameter extends string>(
  { db, environment, onDeliveries, log }: TransitionContext,
  { subject, name, from, statement }: SubjectTransition<Parameter>,
  values: Readonly<Record<Parameter, unknown>>,
  by?: StepActor,
): Promise<Row | undefined> {
  const actor: ActorText = by?.name ?? 'workflow';
  const { requestId = null, traceparent = null } = currentCorrelation() ?? {};
  const all = { ...values, actor, note: by?.note ?? null, environment, requestId, traceparent };
  const { rows } = await db.query<Row & WrittenRow>(bindStatement<CommonParameter | Parameter>(statement, all));
  const row = rows[0];
  if (!row) return undefined;
  if (row.deliveries > 0) onDeliveries();
  const { status: to, version } = row;
  log?.info({ ...subjectLogId(subject), transition: name, from, to, version, actor }, 'transition');
  return row;
}

/** The transition that leads from a version of a subject to the next one. */
interface TransitionKey {
  readonly id: string;
  readonly version: number;
  readonly name: string;
}

/** Whether an earlier attempt has written the transition. If not, another one did, and the subject has moved on. */
export async function isRecorded(
  db: Queryable,
  { kind, transitions, idColumn }: TransitionTables,
  { id, version, name }: TransitionKey,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: `find_${kind}_transition`,
    text: `select from ${transitions} where ${idColumn} = $1 and version = $2 + 1 and name = $3`,
    values: [id, version, name],
  });
  return rowCount === 1;
}

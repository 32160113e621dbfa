import type { Queryable } from '../../db/connection/pool';
import type { ActorText, Door } from '../../domain/actor';
import type { RecordedOutcome } from '../../domain/recorded-outcome';
import type { OperatorActionName } from './operator-action-names';

export interface AuditedAction {
  readonly id: number;
  readonly actor: ActorText;
  readonly via: Door;
  readonly action: OperatorActionName;
  readonly target: string;
  readonly note: string | null;
  readonly requestedAt: Date;
  /** Null: the process ended before it recorded an outcome. */
  readonly outcome: RecordedOutcome | null;
  /** Why it was rejected, and its parameters. */
  readonly detail: string | null;
  readonly finishedAt: Date | null;
}

export interface ActionFilter {
  /** Only actions on this object. */
  readonly target?: string | undefined;
  /** Only actions older than this one: the next page. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listActions(db: Queryable, { target, before, limit }: ActionFilter): Promise<AuditedAction[]> {
  const { rows } = await db.query<AuditedAction>(
    `select id, actor, via, action, target, note, requested_at as "requestedAt", outcome,
       nullif(concat_ws(' ', operator_action_outcomes.detail, operator_actions.detail), '') as detail,
       finished_at as "finishedAt"
     from operator_actions left join operator_action_outcomes on action_id = id
     where ($1::text is null or target = $1) and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [target, before, limit],
  );
  return rows;
}

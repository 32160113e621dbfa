import { createHash } from 'node:crypto';
import type { Queryable } from '../../db/connection/pool';

/** A row of the audit log that its hash chain does not confirm. */
interface AuditBreak {
  /** `missing`: it was deleted · `changed`: its content or its entry · `inserted`: it has no entry in the chain. */
  readonly kind: 'missing' | 'changed' | 'inserted';
  /** `action 12`, `outcome 12` or `entry 12`, by its id. */
  readonly row: string;
}

export interface AuditVerification {
  readonly entries: number;
  /** The hash of the newest entry. Stored elsewhere, it proves later that no newer state replaced this one. */
  readonly head: string | null;
  readonly breaks: readonly AuditBreak[];
}

interface ChainRow {
  readonly position: number;
  readonly kind: 'action' | 'outcome';
  readonly actionId: number;
  /** The login of PostgreSQL that wrote the row. */
  readonly login: string;
  readonly hash: Buffer;
  /** The columns that the hash covers; null if the row is missing. */
  readonly content: readonly unknown[] | null;
}

const BATCH = 5_000;

const READ_CHAIN = `
select position, chain.kind, chain.action_id as "actionId", login, hash,
  case
    when chain.kind = 'action' and action.id is not null then json_build_array(action.id, action.actor, action.via,
      action.operator_id, action.action, action.target, action.note, action.detail, iso_utc(action.requested_at),
      action.amount_rupiah, action.merchant_id, action.approval_id)
    when chain.kind = 'outcome' and outcome.action_id is not null then json_build_array(outcome.action_id,
      outcome.outcome, outcome.detail, iso_utc(outcome.finished_at))
  end as content
from audit_chain chain
left join operator_actions action on chain.kind = 'action' and action.id = chain.action_id
left join operator_action_outcomes outcome on chain.kind = 'outcome' and outcome.action_id = chain.action_id
where position > $1 order by position limit ${BATCH}`;

const FIND_INSERTED = `
select 'action' as kind, id from operator_actions
where not exists (select from audit_chain where kind = 'action' and action_id = id)
union all
select 'outcome', action_id from operator_action_outcomes outcome
where not exists (select from audit_chain where kind = 'outcome' and audit_chain.action_id = outcome.action_id)
order by id, kind`;

/**
 * Computes the hash chain of the audit log again and lists the rows that do not match it.
 * @param earlierHead a head that an earlier verification returned; it must still be in the chain
 */
export async function verifyAudit(db: Queryable, earlierHead?: string): Promise<AuditVerification> {
  const breaks: AuditBreak[] = [];
  let [position, entries] = [0, 0];
  let hash: Buffer = Buffer.alloc(0);
  let isHeadFound = earlierHead === undefined;
  for (;;) {
    const { rows } = await db.query<ChainRow>(READ_CHAIN, [position]);
    for (const row of rows) {
      for (let lost = position + 1; lost < row.position; lost += 1)
        breaks.push({ kind: 'missing', row: `entry ${lost}` });
      const kind = breakOf(row, hash);
      if (kind !== null) breaks.push({ kind, row: `${row.kind} ${row.actionId}` });
      ({ position, hash } = row);
      entries += 1;
      isHeadFound ||= hash.toString('hex') === earlierHead;
    }
    if (rows.length < BATCH) break;
  }
  if (!isHeadFound) breaks.push({ kind: 'missing', row: `entry ${earlierHead}` });
  const inserted = await db.query<{ kind: string; id: number }>(FIND_INSERTED);
  breaks.push(...inserted.rows.map(({ kind, id }): AuditBreak => ({ kind: 'inserted', row: `${kind} ${id}` })));
  return { entries, head: entries === 0 ? null : hash.toString('hex'), breaks };
}

function breakOf({ kind, content, login, hash }: ChainRow, previousHash: Buffer): AuditBreak['kind'] | null {
  if (content === null) return 'missing';
  // As PostgreSQL prints an array of `jsonb`.
  const text = `[${content.map((value) => JSON.stringify(value)).join(', ')}]`;
  const expected = createHash('sha256').update(previousHash).update(`${kind}${text}${login}`).digest();
  return expected.equals(hash) ? null : 'changed';
}

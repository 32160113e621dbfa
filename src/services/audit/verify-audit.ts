import { createHash } from 'node:crypto';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import type { AuditPosition } from '../../db/operations/audit-verifications';

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

/** Rows without an entry, of actions above this id. */
const FIND_INSERTED = `
select 'action' as kind, id from operator_actions
where id > $1 and not exists (select from audit_chain where kind = 'action' and action_id = id)
union all
select 'outcome', action_id from operator_action_outcomes outcome
where action_id > $1
  and not exists (select from audit_chain where kind = 'outcome' and audit_chain.action_id = outcome.action_id)
order by id, kind`;

/**
 * Computes the hash chain of the audit log again and lists the rows that do not match it.
 * @param earlierHead a head that an earlier verification returned; it must still be in the chain
 */
export async function verifyAudit(db: Queryable, earlierHead?: string): Promise<AuditVerification> {
  const { reached, entries, breaks } = await verifyAllEntries(db, earlierHead);
  return { entries, head: reached?.hash.toString('hex') ?? null, breaks };
}

/** What a verification of entries found. */
export interface EntriesVerification extends Pick<AuditVerification, 'entries' | 'breaks'> {
  /** The newest entry; undefined: the chain is empty. */
  readonly reached: AuditPosition | undefined;
}

/** Does the work of `verifyAudit`, and returns the last entry too. */
export async function verifyAllEntries(db: Queryable, earlierHead?: string): Promise<EntriesVerification> {
  const { reached, entries, breaks, isFound } = await walkChain(db, undefined, earlierHead);
  const lost = isFound ? [] : [lostHead(earlierHead)];
  return { reached, entries, breaks: [...breaks, ...lost, ...(await findInserted(db, 0))] };
}

/** A row may be written long after an action with a higher id: an older one is found by `verifyAudit`. */
const OVERLAPPING_ENTRIES = 1_000;

/** Verifies what follows an entry that an earlier verification has reached. That entry must still be there. */
export async function verifyNewEntries(db: Queryable, after: AuditPosition | undefined): Promise<EntriesVerification> {
  const { reached, entries, breaks } = await walkChain(db, after, undefined);
  const { rows } = await db.query<{ hash: Buffer | null; firstAction: number }>(
    `select (select hash from audit_chain where position = $1),
       coalesce(min(action_id), 0)::bigint as "firstAction"
     from audit_chain where kind = 'action' and position > $1 - ${OVERLAPPING_ENTRIES} and position <= $1`,
    [after?.position ?? 0],
  );
  const { hash, firstAction } = onlyRow(rows);
  const isLost = after !== undefined && !(hash?.equals(after.hash) ?? false);
  const lost = isLost ? [lostHead(after.hash.toString('hex'))] : [];
  return { reached, entries, breaks: [...lost, ...breaks, ...(await findInserted(db, firstAction))] };
}

interface WalkedChain {
  readonly reached: AuditPosition | undefined;
  readonly entries: number;
  readonly breaks: readonly AuditBreak[];
  /** Whether the head that is looked for is among the entries, or none is. */
  readonly isFound: boolean;
}

/** Compares the entries after a position with their rows. */
async function walkChain(
  db: Queryable,
  after: AuditPosition | undefined,
  wantedHead: string | undefined,
): Promise<WalkedChain> {
  const breaks: AuditBreak[] = [];
  let [reached, entries, isFound] = [after, 0, wantedHead === undefined];
  for (;;) {
    const { rows } = await db.query<ChainRow>(READ_CHAIN, [reached?.position ?? 0]);
    for (const row of rows) {
      for (let lost = (reached?.position ?? 0) + 1; lost < row.position; lost += 1)
        breaks.push({ kind: 'missing', row: `entry ${lost}` });
      const kind = breakOf(row, reached?.hash ?? NO_HASH);
      if (kind !== null) breaks.push({ kind, row: `${row.kind} ${row.actionId}` });
      reached = { position: row.position, hash: row.hash };
      entries += 1;
      isFound ||= row.hash.toString('hex') === wantedHead;
    }
    if (rows.length < BATCH) return { reached, entries, breaks, isFound };
  }
}

const NO_HASH: Buffer = Buffer.alloc(0);

function lostHead(head: string | undefined): AuditBreak {
  return { kind: 'missing', row: `entry ${head}` };
}

async function findInserted(db: Queryable, aboveAction: number): Promise<AuditBreak[]> {
  const { rows } = await db.query<{ kind: string; id: number }>(FIND_INSERTED, [aboveAction]);
  return rows.map(({ kind, id }): AuditBreak => ({ kind: 'inserted', row: `${kind} ${id}` }));
}

function breakOf({ kind, content, login, hash }: ChainRow, previousHash: Buffer): AuditBreak['kind'] | null {
  if (content === null) return 'missing';
  // As PostgreSQL prints an array of `jsonb`.
  const text = `[${content.map((value) => JSON.stringify(value)).join(', ')}]`;
  const expected = createHash('sha256').update(previousHash).update(`${kind}${text}${login}`).digest();
  return expected.equals(hash) ? null : 'changed';
}

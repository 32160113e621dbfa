import type { Queryable } from '../../db/connection/pool';
import {
  findVerifiedPosition,
  recordAuditVerification,
  type AuditPosition,
} from '../../db/operations/audit-verifications';
import type { VerificationResult, Verifications, VerificationScope } from '../../domain/verification';
import type { Logger } from '../../observability/logger';
import { verifyAllEntries, verifyNewEntries, type EntriesVerification } from '../audit/verify-audit';
import { verifyLedger } from '../ledger/verify-ledger';

interface VerificationNeeds {
  /** A statement of a verification takes up to a minute. */
  readonly db: Queryable;
  readonly log: Pick<Logger, 'error' | 'info'>;
}

/** The message of the log line that keeps the head of the audit chain outside PostgreSQL. */
export const AUDIT_HEAD_MESSAGE = 'audit chain head';

/** The breaks that a row and a log line have. */
const FIRST_BREAKS = 20;

/**
 * The verifications that schedules start. The process remembers the last head of the audit chain without breaks: the
 * owner of the tables could change its row in PostgreSQL too.
 */
export function createVerifications(needs: VerificationNeeds): Verifications {
  let remembered: AuditPosition | undefined;
  return {
    ledger: async ({ isFull }) => {
      const { payments, payouts, breakCount } = await verifyLedger(needs.db, { all: isFull });
      return { verified: payments + payouts, breakCount };
    },
    audit: async (scope) => {
      const before = remembered ?? (await findVerifiedPosition(needs.db));
      const { reached, ...result } = await verifyAuditChain(needs, scope, before);
      if (result.breakCount === 0) remembered = reached;
      return result;
    },
  };
}

async function verifyAuditChain(
  { db, log }: VerificationNeeds,
  { isFull }: VerificationScope,
  before: AuditPosition | undefined,
): Promise<VerificationResult & Pick<EntriesVerification, 'reached'>> {
  const { entries, reached, breaks } = isFull
    ? await verifyAllEntries(db, before?.hash.toString('hex'))
    : await verifyNewEntries(db, before);
  const first = breaks.slice(0, FIRST_BREAKS).map(({ row, kind }) => `${row} ${kind}`);
  await recordAuditVerification(db, { isFull, reached, breakCount: breaks.length, breaks: first });
  const seen = { position: reached?.position ?? 0, head: reached?.hash.toString('hex') ?? null };
  if (breaks.length > 0) log.error({ ...seen, breakCount: breaks.length, breaks: first }, 'audit chain broken');
  else log.info(seen, AUDIT_HEAD_MESSAGE);
  return { verified: entries, breakCount: breaks.length, reached };
}

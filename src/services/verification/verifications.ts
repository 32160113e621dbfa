import type { Queryable } from '../../db/connection/pool';
import { findVerifiedPosition, recordAuditVerification } from '../../db/operations/audit-verifications';
import type { VerificationResult, Verifications, VerificationScope } from '../../domain/verification';
import type { Logger } from '../../observability/logger';
import { verifyAllEntries, verifyNewEntries } from '../audit/verify-audit';
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

/** The verifications that schedules start. */
export function createVerifications(needs: VerificationNeeds): Verifications {
  return {
    ledger: async ({ isFull }) => {
      const { payments, payouts, breakCount } = await verifyLedger(needs.db, { all: isFull });
      return { verified: payments + payouts, breakCount };
    },
    audit: (scope) => verifyAuditChain(needs, scope),
  };
}

async function verifyAuditChain(
  { db, log }: VerificationNeeds,
  { isFull }: VerificationScope,
): Promise<VerificationResult> {
  const before = await findVerifiedPosition(db);
  const { entries, reached, breaks } = isFull
    ? await verifyAllEntries(db, before?.hash.toString('hex'))
    : await verifyNewEntries(db, before);
  const first = breaks.slice(0, FIRST_BREAKS).map(({ row, kind }) => `${row} ${kind}`);
  await recordAuditVerification(db, { isFull, reached, breakCount: breaks.length, breaks: first });
  const seen = { position: reached?.position ?? 0, head: reached?.hash.toString('hex') ?? null };
  if (breaks.length > 0) log.error({ ...seen, breakCount: breaks.length, breaks: first }, 'audit chain broken');
  else log.info(seen, AUDIT_HEAD_MESSAGE);
  return { verified: entries, breakCount: breaks.length };
}

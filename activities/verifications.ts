import { Context } from '@temporalio/activity';
import type { VerificationResult, VerificationScope } from '../src/domain/verification';
import type { ActivityDependencies } from './dependencies';
import { unchecked } from './verify-terms';

const HEARTBEAT_MS = 10_000;

/** Verifies the ledger. A repeated call begins again. */
export function verifyLedger(
  { verifications }: ActivityDependencies,
  scope: VerificationScope,
): Promise<VerificationResult> {
  return withHeartbeats(verifications.ledger(scope));
}
verifyLedger.checked = unchecked(verifyLedger);

/** Verifies the hash chain of the audit log. A repeated call begins again. */
export function verifyAudit(
  { verifications }: ActivityDependencies,
  scope: VerificationScope,
): Promise<VerificationResult> {
  return withHeartbeats(verifications.audit(scope));
}
verifyAudit.checked = unchecked(verifyAudit);

/** A worker that stops does not wait for the result: another one begins again. */
async function withHeartbeats<Result>(work: Promise<Result>): Promise<Result> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await Promise.race([work, context.cancelled]);
  } finally {
    clearInterval(timer);
  }
}

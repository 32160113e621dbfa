import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { verifyAudit, type AuditVerification } from '../../services/audit/verify-audit';
import type { LunasCommand } from '../lunas-command';
import { formatTable, type CommandResult } from '../output';

const head = z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be 64 hexadecimal digits, as the command prints' });

export function defineAudit(audit: LunasCommand): void {
  audit
    .command('verify')
    .description(
      'compute the hash chain again and list changed, missing and inserted rows; exit code 1 if there are any',
    )
    .option('--head <hash>', 'the head that an earlier verification printed: it must still be in the chain')
    .examples('lunas audit verify', 'lunas audit verify --json')
    .databaseAction(
      z.object({ head: head.optional() }),
      async ({ head }, db) => verificationResult(await verifyAudit(db, head)),
      LONG_STATEMENT_MS,
    );
}

function verificationResult(verification: AuditVerification): CommandResult {
  const { entries, head, breaks } = verification;
  const summary = `${entries} entries, head ${head ?? 'none'}`;
  const rows = breaks.map(({ row, kind }) => ({ ROW: row, BREAK: kind }));
  return {
    json: { audit: verification },
    text: `${summary}\n\n${formatTable(rows, 'No breaks.')}`,
    ...(breaks.length > 0 && { failure: `The audit log has ${breaks.length} rows that its hash chain rejects.` }),
  };
}

import type { Queryable } from '../../db/connection/pool';
import { DeclaredAction } from '../../domain/declared-action';
import type { Logger } from '../../observability/logger';
import type { Decryption } from '../../temporal/codec-server';
import { withAudit } from './audit';

export const DECRYPT = new DeclaredAction('workflow.decrypt');

/** The audit log has one row for each request to the codec server: who has read the payloads of which workflows. */
export function decryptionRecorder(db: Queryable, log: Logger): (decryption: Decryption) => Promise<void> {
  return ({ operator, workflowIds, payloads }) => {
    const { id: operatorId, name, scopes } = operator;
    const actor = { kind: 'operator', door: 'api', operatorId, name, scopes } as const;
    const [first = ''] = workflowIds;
    // The target is in an index, whose entries are short: a list of the Web UI has payloads of many workflows.
    const target = workflowIds.length === 1 ? first : `${workflowIds.length} workflows`;
    const detail = JSON.stringify({ workflowIds, payloads });
    return withAudit({ db, log }, actor, { action: DECRYPT, target, detail }, () => Promise.resolve());
  };
}

import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { IS_WAITING } from './request-approval';

/** A request for a second operator. */
export interface Approval {
  readonly id: number;
  /** The name of the operation. */
  readonly action: string;
  readonly target: string;
  /** Null: it moves no amount, or the amount is not known. */
  readonly amountRupiah: number | null;
  /** The version of the policy, or the id of the row, that it replaces. */
  readonly expectedVersion: number | null;
  readonly parameters: unknown;
  readonly note: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly expiresAt: Date;
  /** `approved`: its execution is not recorded, so the approval can be repeated. */
  readonly status: 'pending' | 'expired' | 'approved' | 'executed' | 'failed' | 'rejected';
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly failureReason: string | null;
  /** Oldest first. */
  readonly decisions: readonly {
    readonly decision: 'approved' | 'rejected';
    readonly decidedBy: string;
    readonly decidedAt: string;
    readonly note: string | null;
  }[];
}

const DECISIONS = `(
    select coalesce(json_agg(json_build_object('decision', decision, 'decidedBy', operators.name,
      'decidedAt', iso_utc(approval_decisions.decided_at), 'note', approval_decisions.note)
      order by approval_decisions.id), '[]')
    from approval_decisions join operators on operators.id = approval_decisions.decided_by
    where approval_id = approvals.id
  )`;

const APPROVAL_COLUMNS = `approvals.id, action, target, amount_rupiah as "amountRupiah",
  expected_version as "expectedVersion", parameters, note, requester.name as "requestedBy",
  requested_at as "requestedAt", approvals.expires_at as "expiresAt",
  case when status = 'pending' and not ${IS_WAITING} then 'expired' else status end as status,
  decider.name as "decidedBy", decided_at as "decidedAt", failure_reason as "failureReason",
  ${DECISIONS} as decisions`;
const WITH_NAMES = `join operators requester on requester.id = requested_by
  left join operators decider on decider.id = decided_by`;

/** Newest first. */
export async function listApprovals(
  db: Queryable,
  { onlyOpen, limit }: { readonly onlyOpen: boolean; readonly limit: number },
): Promise<Approval[]> {
  const { rows } = await db.query<Approval>(
    `select ${APPROVAL_COLUMNS} from approvals ${WITH_NAMES}
     where not $1 or ${IS_WAITING} or status = 'approved' order by approvals.id desc limit $2`,
    [onlyOpen, limit],
  );
  return rows;
}

/** @throws NotFoundError if there is no such request */
export async function findApproval(db: Queryable, approvalId: number): Promise<Approval> {
  const { rows } = await db.query<Approval>(
    `select ${APPROVAL_COLUMNS} from approvals ${WITH_NAMES} where approvals.id = $1`,
    [approvalId],
  );
  return requireRow(rows, 'approval', String(approvalId));
}

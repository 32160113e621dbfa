import { setApprovalLimit } from '../approvals/set-approval-limit';
import { createKey } from '../merchants/keys/create-key';
import { revokeKey } from '../merchants/keys/revoke-key';
import { rotateKey } from '../merchants/keys/rotate-key';
import { updateKey } from '../merchants/keys/update-key';
import { setCatalog } from '../provider-accounts/set-catalog';

/** The operations of members, and of operators for a merchant. */
export const MERCHANT_OPERATIONS = [createKey, updateKey, rotateKey, revokeKey] as const;
export type MerchantOperationName = (typeof MERCHANT_OPERATIONS)[number]['name'];

/** The operations that a second operator has to approve in production. */
export const APPROVABLE_OPERATIONS = [setApprovalLimit, setCatalog] as const;

/** Every operation. Its tests, the names in the audit log and the texts of the activity are derived from this list. */
export const OPERATIONS = [...MERCHANT_OPERATIONS, ...APPROVABLE_OPERATIONS] as const;
export type OperationName = (typeof OPERATIONS)[number]['name'];

import { createKey } from '../merchants/keys/create-key';
import { revokeKey } from '../merchants/keys/revoke-key';
import { rotateKey } from '../merchants/keys/rotate-key';
import { updateKey } from '../merchants/keys/update-key';

/** Every operation. Its tests, the names in the audit log and the texts of the activity are derived from this list. */
export const OPERATIONS = [createKey, updateKey, rotateKey, revokeKey] as const;
export type OperationName = (typeof OPERATIONS)[number]['name'];

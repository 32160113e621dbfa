import { OPERATIONS, type OperationName } from '../operations/all';
import { DECRYPT } from './record-decryption';
import { REQUEST_APPROVAL } from './request-approval';

/** What is recorded without an operation: a request for one, and a reading of payloads. */
const DECLARED = [DECRYPT, REQUEST_APPROVAL] as const;

/** Every operator action that writes, or that shows personal data or payloads. */
export type OperatorActionName = (typeof DECLARED)[number]['name'] | OperationName;

/** In alphabetical order. */
export const OPERATOR_ACTION_NAMES: readonly OperatorActionName[] = [
  ...DECLARED,
  ...OPERATIONS.filter(({ isForOperators }) => isForOperators),
]
  .map(({ name }) => name)
  .toSorted();

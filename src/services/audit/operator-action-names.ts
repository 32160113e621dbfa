import { DeclaredAction } from '../../domain/declared-action';
import * as workerVersions from '../../temporal/worker-versions';
import * as removeArchived from '../archive/remove-archived';
import * as writeArchive from '../archive/write-archive';
import { OPERATIONS, type OperationName } from '../operations/all';
import * as reconcileAll from '../reconciliation/reconcile-all';
import * as recover from '../recovery/recover';
import * as recoverOne from '../recovery/recover-one';
import * as recoveryMode from '../recovery/recovery-mode';
import * as reseal from '../recovery/reseal';
import * as triggerEvent from '../sandbox/trigger-event';
import * as recordDecryption from './record-decryption';
import * as requestApproval from './request-approval';

/** The modules that declare operator actions. A test finds one that is missing here. */
const MODULES = [
  recordDecryption,
  requestApproval,
  reconcileAll,
  recover,
  recoverOne,
  recoveryMode,
  removeArchived,
  reseal,
  triggerEvent,
  workerVersions,
  writeArchive,
] as const;

type Exported<Module> = Module extends unknown ? Module[keyof Module] : never;
type NameOf<Value> = Value extends DeclaredAction<infer Name> ? Name : never;

/** Every operator action that writes, or that shows personal data or payloads. */
export type OperatorActionName = NameOf<Exported<(typeof MODULES)[number]>> | OperationName;

/** In alphabetical order. */
export const OPERATOR_ACTION_NAMES: readonly OperatorActionName[] = [
  ...MODULES.flatMap((module) =>
    Object.values<unknown>(module)
      .filter(isDeclared)
      .map(({ name }) => name),
  ),
  ...OPERATIONS.filter(({ isForOperators }) => isForOperators).map(({ name }) => name),
].toSorted();

function isDeclared(value: unknown): value is DeclaredAction<OperatorActionName> {
  return value instanceof DeclaredAction;
}

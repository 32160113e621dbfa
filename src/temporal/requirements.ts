import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { Client } from '@temporalio/client';
import { msToTs, optionalTsToMs } from '@temporalio/common/lib/time';
import { OPERATOR_STEPS } from '../domain/operator-steps';
import { ConflictError, messageOf, UserError } from '../errors';
import type { Logger } from '../observability/logger';
import { isSupportedTemporal, MIN_TEMPORAL_VERSION } from '../package-info';
import { probeTarget, type TemporalTarget } from './connection';
import { hasStatus, isTimeout, isUnsupported, statusNameOf } from './grpc-errors';
import { connectionFailure } from './probe-connection';
import { addSearchAttributes, searchAttributesViolation } from './search-attributes';

const DAY_MS = 86_400_000;
/**
 * A webhook is retried for three days, and operators read the history of its payment until then. `lunas recover`
 * restores rows of completed payments only from histories that Temporal still has.
 */
const MIN_RETENTION_DAYS = 3;
const CALL_TIMEOUT_MS = 10_000;
/** A server applies a change of a namespace within seconds. */
const APPLY_TIMEOUT_MS = 30_000;
/** The last call may begin then. It is less than a process has for its start, with that call's own timeout. */
const RESPONSE_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 500;
const RESPONDS_LATE = 'Repeat it when the server responds; its log has the reason.';
/** `temporal.api.enums.v1.NamespaceState` */
const REGISTERED = 1;

/** A namespace, with the access of a process. */
export interface TemporalAccess {
  readonly client: Client;
  readonly target: TemporalTarget;
}

/** What the service requires of Temporal. */
interface Requirement {
  readonly name: string;
  /** What to do, as a sentence, if `setUp` is absent or is not allowed. */
  readonly advice: string;
  /** Null if it is met, else a sentence. Rejects with the error of a call that the server rejects. */
  readonly violation: (access: TemporalAccess) => Promise<string | null>;
  /** Creates what is missing. */
  readonly setUp?: (access: TemporalAccess) => Promise<void>;
  /** Without it no payment can be created: a worker requires it, or sets it up, before it starts. */
  readonly atWorkerStart?: 'require' | 'set up';
}

export interface CheckedRequirement {
  readonly name: string;
  readonly state: 'ok' | 'broken' | 'not_checked';
  /** Null if the requirement is met. */
  readonly violation: string | null;
  readonly advice: string | null;
}

/** In the order in which they are set up. */
const REQUIREMENTS: readonly Requirement[] = [
  {
    name: 'server_version',
    advice: `Upgrade the Temporal server to ${MIN_TEMPORAL_VERSION.major}.${MIN_TEMPORAL_VERSION.minor} or newer.`,
    violation: versionViolation,
  },
  {
    name: 'namespace',
    advice: `${OPERATOR_STEPS.setUpTemporal}, or correct TEMPORAL_NAMESPACE and the rights of the certificate or key.`,
    violation: namespaceViolation,
    setUp: registerNamespace,
    atWorkerStart: 'require',
  },
  {
    name: 'retention',
    advice: `Set the retention of the namespace to ${MIN_RETENTION_DAYS} days or more.`,
    violation: retentionViolation,
    setUp: extendRetention,
  },
  {
    name: 'search_attributes',
    advice: `${OPERATOR_STEPS.setUpTemporal} with these types. Remove one of another type first.`,
    violation: ({ client }) => searchAttributesViolation(client),
    setUp: ({ client }) => addSearchAttributes(client),
    atWorkerStart: 'set up',
  },
];

/** @throws UserError if no connection can be made */
export async function checkRequirements(access: TemporalAccess): Promise<readonly CheckedRequirement[]> {
  await requireConnection(access.target);
  return Promise.all(REQUIREMENTS.map((requirement) => check(requirement, access)));
}

/**
 * Sets up what is missing, and waits until the server has applied it.
 * @throws UserError if no connection can be made
 */
export async function setUpRequirements(access: TemporalAccess): Promise<readonly CheckedRequirement[]> {
  await requireConnection(access.target);
  const checked: CheckedRequirement[] = [];
  for (const requirement of REQUIREMENTS) {
    const done = await setUp(requirement, access);
    checked.push(done.state === 'set up' ? await checkUntilApplied(requirement, access) : done);
  }
  return checked;
}

/**
 * For a worker, before it starts: requires what no payment can be created without.
 * @throws UserError that names what is missing
 */
export async function requireTemporal(access: TemporalAccess, log: Logger): Promise<void> {
  for (const requirement of REQUIREMENTS) {
    if (!requirement.atWorkerStart) continue;
    const done = await (requirement.atWorkerStart === 'set up' ? setUp : check)(requirement, access);
    if (done.state === 'broken') {
      throw new ConflictError('temporal_not_set_up', `Temporal, ${done.name}: ${done.violation} ${done.advice}`);
    }
    if (done.state === 'not_checked')
      log.warn({ requirement: done.name, reason: done.violation }, 'Temporal not checked');
  }
}

/** @throws UserError if no connection can be made within 3 s */
export async function requireConnection(target: TemporalTarget): Promise<void> {
  const failure = await connectionFailure(probeTarget(target));
  if (failure) throw new UserError(`Temporal at ${target.address} is not available: ${failure.message}.`);
}

async function check({ name, advice, violation }: Requirement, access: TemporalAccess): Promise<CheckedRequirement> {
  try {
    const found = await untilResponse(() => withDeadline(access, () => violation(access)));
    return found === null
      ? { name, state: 'ok', violation: null, advice: null }
      : { name, state: 'broken', violation: found, advice };
  } catch (error) {
    const state = isUnsupported(error) ? 'not_checked' : 'broken';
    const remedy = isTimeout(error) ? RESPONDS_LATE : advice;
    return { name, state, violation: `It cannot be checked: ${rejectionOf(error)}.`, advice: remedy };
  }
}

/** Repeats a call that timed out: a server that has just started can take longer for its first responses. */
async function untilResponse<T>(call: () => Promise<T>): Promise<T> {
  const untilMs = Date.now() + RESPONSE_TIMEOUT_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isTimeout(error) || Date.now() >= untilMs) throw error;
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

async function setUp(
  requirement: Requirement,
  access: TemporalAccess,
): Promise<CheckedRequirement | { readonly state: 'set up' }> {
  const found = await check(requirement, access);
  const create = requirement.setUp;
  if (found.state !== 'broken' || !create) return found;
  try {
    await withDeadline(access, () => create(access), APPLY_TIMEOUT_MS);
    return { state: 'set up' };
  } catch (error) {
    return { ...found, violation: `${found.violation} It cannot be set up: ${rejectionOf(error)}.` };
  }
}

async function checkUntilApplied(requirement: Requirement, access: TemporalAccess): Promise<CheckedRequirement> {
  return pollWhile(
    () => check(requirement, access),
    ({ state }) => state === 'broken',
  );
}

/** The first value that is not pending; after 30 s also a pending one. */
async function pollWhile<T>(read: () => Promise<T>, isPending: (value: T) => boolean): Promise<T> {
  const untilMs = Date.now() + APPLY_TIMEOUT_MS;
  for (;;) {
    const value = await read();
    if (!isPending(value) || Date.now() >= untilMs) return value;
    await sleep(POLL_INTERVAL_MS);
  }
}

function withDeadline<T>({ client }: TemporalAccess, work: () => Promise<T>, timeoutMs = CALL_TIMEOUT_MS): Promise<T> {
  return client.connection.withDeadline(Date.now() + timeoutMs, work);
}

/** The reason without a full stop. */
function rejectionOf(error: unknown): string {
  const name = isUnsupported(error) ? statusNameOf(error) : undefined;
  return name === undefined ? messageOf(error).replace(/\.$/, '') : `Temporal rejects the request (${name})`;
}

async function versionViolation({ client }: TemporalAccess): Promise<string | null> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  return isSupportedTemporal(serverVersion) ? null : `The Temporal server has version ${serverVersion || 'unknown'}.`;
}

async function namespaceViolation({ client, target: { namespace } }: TemporalAccess): Promise<string | null> {
  try {
    const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace });
    return Number(namespaceInfo?.state) === REGISTERED ? null : `The namespace ${namespace} is being deleted.`;
  } catch (error) {
    if (hasStatus(error, [status.NOT_FOUND])) return `The namespace ${namespace} does not exist.`;
    // Temporal Cloud responds so for an absent namespace too.
    const isDenied = hasStatus(error, [status.PERMISSION_DENIED]);
    if (isDenied) return `The process has no access to the namespace ${namespace} (PERMISSION_DENIED).`;
    throw error;
  }
}

/** Resolves when the server uses the namespace. */
async function registerNamespace({ client, target: { namespace } }: TemporalAccess): Promise<void> {
  const { workflowService } = client;
  const workflowExecutionRetentionPeriod = msToTs(MIN_RETENTION_DAYS * DAY_MS);
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  const isUnknown = () =>
    workflowService.listWorkflowExecutions({ namespace, pageSize: 1 }).then(
      () => false,
      (error: unknown) => hasStatus(error, [status.NOT_FOUND]),
    );
  await pollWhile(isUnknown, (isPending) => isPending);
}

async function retentionViolation({ client, target: { namespace } }: TemporalAccess): Promise<string | null> {
  const { config } = await client.workflowService.describeNamespace({ namespace });
  const days = (optionalTsToMs(config?.workflowExecutionRetentionTtl) ?? 0) / DAY_MS;
  return days >= MIN_RETENTION_DAYS ? null : `The retention is ${days} days, less than ${MIN_RETENTION_DAYS}.`;
}

async function extendRetention({ client, target: { namespace } }: TemporalAccess): Promise<void> {
  const workflowExecutionRetentionTtl = msToTs(MIN_RETENTION_DAYS * DAY_MS);
  await client.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } });
}

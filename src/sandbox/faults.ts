/** The operations that can have faults: calls of the API and of the bank, and notifications of both. */
export const FAULT_OPERATIONS = [
  'charge',
  'status',
  'cancel',
  'expire',
  'refund',
  'notify',
  'token',
  'inquiry',
  'transfer',
  'transfer_status',
  'transfer_notify',
] as const;
export type FaultOperation = (typeof FAULT_OPERATIONS)[number];
export type NotificationOperation = Extract<FaultOperation, 'notify' | 'transfer_notify'>;

/**
 * How a call fails for the merchant:
 * - `timeout`, `reset`, `http_500`: the acquirer does not execute it. No response, a reset connection, or a 500.
 * - `accept_then_timeout`, `accept_then_reset`, `half_body`: the acquirer executes it. The response is lost or cut.
 * - `slow`: the acquirer executes it and responds after three seconds.
 * - `reject`: the acquirer rejects it.
 * - `forgotten_key`: the acquirer has the order, and forgot the idempotency key of its charge: a 406 without a QR.
 *
 * How a notification fails:
 * - `timeout`, `reset`, `http_500`: it does not arrive. A further attempt follows.
 * - `accept_then_timeout`, `accept_then_reset`: it arrives. A further attempt follows nevertheless.
 * - `half_body`, `bad_signature`: one attempt has a corrupt body or signature.
 * - `reject`, `silent`: it is dropped.
 */
export const FAULT_KINDS = [
  'timeout',
  'reset',
  'http_500',
  'reject',
  'accept_then_timeout',
  'accept_then_reset',
  'half_body',
  'slow',
  'forgotten_key',
  'bad_signature',
  'silent',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

const NOTIFICATION_ONLY: ReadonlySet<FaultKind> = new Set(['bad_signature', 'silent']);

export const SLOW_MS = 3000;

export interface Fault {
  readonly operation: FaultOperation;
  readonly kind: FaultKind;
  /** The number of further calls that fail. */
  readonly times: number;
}

/** Whether the operation can have this kind of fault. An API response has no signature and cannot be dropped. */
export function isPossible({ operation, kind }: Pick<Fault, 'operation' | 'kind'>): boolean {
  if (kind === 'forgotten_key') return operation === 'charge';
  return operation === 'notify' || operation === 'transfer_notify' || !NOTIFICATION_ONLY.has(kind);
}

/** The armed faults, at most one per operation. In memory: a restart clears them. */
export class Faults {
  readonly #armed = new Map<FaultOperation, Fault>();

  arm(fault: Fault): void {
    this.#armed.set(fault.operation, fault);
  }

  clear(): void {
    this.#armed.clear();
  }

  list(): Fault[] {
    return [...this.#armed.values()];
  }

  /** The fault of this call, if any. Decrements `times`. */
  take(operation: FaultOperation): FaultKind | undefined {
    const fault = this.#armed.get(operation);
    if (!fault) return undefined;
    if (fault.times > 1) this.#armed.set(operation, { ...fault, times: fault.times - 1 });
    else this.#armed.delete(operation);
    return fault.kind;
  }
}

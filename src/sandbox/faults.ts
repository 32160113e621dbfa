/** What can be made to go wrong. Operations of the API and the notifications that it sends. */
export const FAULT_OPERATIONS = ['charge', 'status', 'cancel', 'expire', 'refund', 'notify'] as const;
export type FaultOperation = (typeof FAULT_OPERATIONS)[number];

/**
 * How a call fails, seen from the merchant:
 * `timeout`, `reset`, `http_500`: nothing happens at the acquirer, and no answer, a broken connection or a 500 comes back.
 * `accept_then_timeout`, `accept_then_reset`, `half_body`: it happens, and the answer is lost on the way or breaks off.
 * `slow`: it happens, the answer takes three seconds. `reject`: the acquirer says no.
 * A notification with `timeout`, `reset`, `http_500` does not arrive and is tried again; with `accept_then_timeout`,
 * `accept_then_reset` it arrives and is sent again all the same; `half_body` and `bad_signature` spoil one attempt;
 * `reject` and `silent` drop it for good.
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
  'bad_signature',
  'silent',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

const NOTIFICATION_ONLY: ReadonlySet<FaultKind> = new Set(['bad_signature', 'silent']);

export const SLOW_MS = 3000;

export interface Fault {
  readonly operation: FaultOperation;
  readonly kind: FaultKind;
  /** How many more calls fail so. */
  readonly times: number;
}

/** Whether such a fault exists: an API answer has no signature to spoil and cannot be silent. */
export function isPossible({ operation, kind }: Pick<Fault, 'operation' | 'kind'>): boolean {
  return operation === 'notify' || !NOTIFICATION_ONLY.has(kind);
}

/** The faults that are armed, at most one an operation; in memory, so a restart clears them. */
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

  /** The fault that hits this call, if any; it is used up by one. */
  take(operation: FaultOperation): FaultKind | undefined {
    const fault = this.#armed.get(operation);
    if (!fault) return undefined;
    if (fault.times > 1) this.#armed.set(operation, { ...fault, times: fault.times - 1 });
    else this.#armed.delete(operation);
    return fault.kind;
  }
}

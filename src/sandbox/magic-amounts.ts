import type { FaultKind, FaultOperation } from './faults';

type Behaviour =
  { readonly customer: 'pays' | 'pays_late' } | { readonly operation: FaultOperation; readonly kind: FaultKind };

interface MagicAmount {
  /** The exact amount that the customer pays, the fee included if the buyer pays it. */
  readonly totalRupiah: number;
  readonly behaviour: Behaviour;
  /** For the page, the command's help and docs/sandbox.md. */
  readonly description: string;
}

export const AUTO_PAY_DELAY_SECONDS = 2;
export const LATE_PAY_DELAY_SECONDS = 3;

/** Totals whose orders always behave in the same way, for integration tests against the sandbox. */
export const MAGIC_AMOUNTS = [
  {
    totalRupiah: 1_000_200,
    behaviour: { customer: 'pays' },
    description: `pays itself, ${AUTO_PAY_DELAY_SECONDS} seconds after its QR was issued`,
  },
  {
    totalRupiah: 1_000_402,
    behaviour: { operation: 'charge', kind: 'reject' },
    description: 'is always rejected: no QR is issued',
  },
  {
    totalRupiah: 1_000_407,
    behaviour: { customer: 'pays_late' },
    description: `is paid too late, ${LATE_PAY_DELAY_SECONDS} seconds after its order has expired or was cancelled`,
  },
  {
    totalRupiah: 1_000_408,
    behaviour: { operation: 'charge', kind: 'timeout' },
    description: 'always times out: no QR is issued, and no response arrives',
  },
  {
    totalRupiah: 1_000_414,
    behaviour: { operation: 'refund', kind: 'reject' },
    description: 'is paid by a customer as any other, and its refunds are always rejected',
  },
] as const satisfies readonly MagicAmount[];

/** The fault that this operation always has for an order over this total. */
export function permanentFault(operation: FaultOperation, totalRupiah: unknown): FaultKind | undefined {
  for (const { totalRupiah: magic, behaviour } of MAGIC_AMOUNTS) {
    if (magic === totalRupiah && 'operation' in behaviour && behaviour.operation === operation) return behaviour.kind;
  }
  return undefined;
}

/** The totals that are paid without a request: in time, or late. */
export function totalsOf(customer: 'pays' | 'pays_late'): number[] {
  return MAGIC_AMOUNTS.flatMap(({ totalRupiah, behaviour }) =>
    'customer' in behaviour && behaviour.customer === customer ? [totalRupiah] : [],
  );
}

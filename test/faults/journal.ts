import { z } from 'zod';
import { PayoutJournal } from './payout-journal';

/** One request of a client and its result. */
export interface Entry {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  /** Null if no complete response was received. */
  readonly status: number | null;
  readonly text: string;
  readonly tookMs: number;
}

const paymentSchema = z.looseObject({ id: z.string(), reference_id: z.string(), status: z.string() });
const responseSchema = z.object({ payment: paymentSchema });
const bulkResponseSchema = z.object({ payments: z.array(paymentSchema) });
export type ReturnedPayment = z.infer<typeof paymentSchema>;

/** The requests and responses of all clients: what the service has acknowledged. */
export class Journal {
  constructor(
    readonly entries: Entry[] = [],
    readonly payouts = new PayoutJournal(),
  ) {}

  snapshot(): Journal {
    return new Journal([...this.entries], this.payouts.snapshot());
  }

  /** The payments of 2xx responses to creations, by idempotency key. Each item of a bulk has its own key. */
  created(): Map<string, ReturnedPayment[]> {
    const byKey = new Map<string, ReturnedPayment[]>();
    const add = (key: string, payment: ReturnedPayment) => byKey.set(key, [...(byKey.get(key) ?? []), payment]);
    for (const { method, path, key, status, text } of this.entries) {
      if (method !== 'POST' || path !== '/payments' || key === null || !isSuccess(status)) continue;
      const single = responseSchema.safeParse(JSON.parse(text));
      if (single.success) add(key, single.data.payment);
      else bulkResponseSchema.parse(JSON.parse(text)).payments.forEach((item, index) => add(`${key}:${index}`, item));
    }
    return byKey;
  }

  /** The idempotency keys of creations that were rejected. */
  rejected(): Set<string> {
    return new Set(
      this.entries.flatMap(({ method, path, key, status }) =>
        method === 'POST' && path === '/payments' && key !== null && status === 400 ? [key] : [],
      ),
    );
  }

  /** The payments of 200 responses to this action, with the status in the response. */
  done(what: 'cancel' | 'refund'): { readonly id: string; readonly status: string }[] {
    return this.entries.flatMap(({ method, path, status, text }) => {
      if (method !== 'POST' || !path.endsWith(`/${what}`) || !isSuccess(status)) return [];
      const { payment } = responseSchema.parse(JSON.parse(text));
      return [{ id: payment.id, status: payment.status }];
    });
  }
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

export function paymentIn(text: string): ReturnedPayment {
  return responseSchema.parse(JSON.parse(text)).payment;
}

export function paymentsIn(text: string): ReturnedPayment[] {
  return bulkResponseSchema.parse(JSON.parse(text)).payments;
}

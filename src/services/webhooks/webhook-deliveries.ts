import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { ALL_SUBJECT_TABLES, SUBJECT_TABLES } from '../../db/transitions/subjects';
import { joinSubject } from '../../db/webhooks/delivery-subject';
import type { WebhookEvent } from '../../domain/events';
import type { Subject, SubjectKind } from '../../domain/subject';
import type { DeliveryStatus } from '../../webhooks/outbox';
import type { DeadReason } from '../../webhooks/record-attempt';
import type { WebhookAttempt } from '../../webhooks/send';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const satisfies readonly DeliveryStatus[];

export interface DeliveryFilter {
  /** A payment's id or `reference_id`. */
  readonly payment?: string | undefined;
  /** A payout's id or `reference_id`. */
  readonly payout?: string | undefined;
  readonly merchantId?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly event?: WebhookEvent | undefined;
  /** The event's timestamp: not before `since`, before `until`. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly limit: number;
}

/** A delivery as `lunas payments show` lists it, with all attempts in order. */
export interface PaymentDelivery {
  readonly id: string;
  readonly event: WebhookEvent;
  readonly endpointId: string;
  /** Only its origin: path and query may contain secrets of the merchant. */
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly deadReason: DeadReason | null;
  readonly createdAt: Date;
  readonly attempts: readonly Omit<AttemptSummary, 'responseExcerpt'>[];
}

export interface ListedDelivery extends PaymentDelivery {
  /** One of the three: a delivery is about one subject. */
  readonly paymentId: string | null;
  readonly payoutId: string | null;
  readonly invoiceId: string | null;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly finishedAt: Date | null;
  readonly attempts: readonly AttemptSummary[];
}

export interface AttemptSummary extends Omit<WebhookAttempt, 'startedAt' | 'retryAfterSeconds'> {
  readonly number: number;
  readonly startedAt: string;
}

const DELIVERY_COLUMNS = `delivery.id, about.event, endpoint.id as "endpointId", endpoint.url, delivery.status,
  delivery.dead_reason as "deadReason", delivery.created_at as "createdAt"`;

const DELIVERIES = `webhook_deliveries delivery
  join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
  ${joinSubject(ALL_SUBJECT_TABLES, 'event.event')}`;

/** The attempts of a delivery as JSON, with more of their columns. */
function attemptsWith(...columns: readonly string[]): string {
  const fields = [
    `'number', number, 'startedAt', iso_utc(started_at), 'durationMs', duration_ms`,
    `'statusCode', status_code, 'failure', failure`,
    ...columns,
  ];
  return `(select coalesce(json_agg(json_build_object(${fields.join(', ')}) order by number), '[]')
    from webhook_attempts where delivery_id = delivery.id)`;
}

/** The deliveries of one subject, in the order of its events. */
export async function listDeliveriesOf(db: Queryable, { kind, id }: Subject): Promise<PaymentDelivery[]> {
  const { idColumn, versionColumn } = SUBJECT_TABLES[kind];
  const { rows } = await db.query<PaymentDelivery>(
    `select ${DELIVERY_COLUMNS}, ${attemptsWith()} as attempts from ${DELIVERIES}
     where delivery.${idColumn} = $1 order by delivery.${versionColumn}, endpoint.created_at, endpoint.id`,
    [id],
  );
  return rows.map(withMaskedUrl);
}

/** Whether the delivery is about the subject that $n identifies, an id, or the next parameter, a `reference_id`. */
function isAbout(kind: SubjectKind, n: number): string {
  const { table, referenceColumn, idColumn } = SUBJECT_TABLES[kind];
  const [id, reference] = [`$${n}`, `$${n + 1}`];
  return `(${id}::uuid is null or delivery.${idColumn} = ${id})
       and (${reference}::text is null
         or delivery.${idColumn} = (select id from ${table} where ${referenceColumn} = ${reference}))`;
}

/** The values of `isAbout`. */
function idAndReference(name: string | undefined): [string | undefined, string | undefined] {
  return z.guid().safeParse(name).success ? [name, undefined] : [undefined, name];
}

/** Deliveries with their attempts, newest first. */
export async function listDeliveries(db: Queryable, filter: DeliveryFilter): Promise<ListedDelivery[]> {
  const { payment, payout, merchantId, status, event, since, until, limit } = filter;
  const { rows } = await db.query<ListedDelivery>(
    `select ${DELIVERY_COLUMNS}, delivery.payment_id as "paymentId", delivery.payout_id as "payoutId",
       delivery.invoice_id as "invoiceId", about.reference_id as "referenceId", delivery.merchant_id as "merchantId",
       delivery.finished_at as "finishedAt",
       ${attemptsWith(`'responseExcerpt', response_excerpt`)} as attempts
     from ${DELIVERIES}
     where ${isAbout('payment', 1)}
       and ${isAbout('payout', 3)}
       and ($5::uuid is null or delivery.merchant_id = $5)
       and ($6::text is null or delivery.status = $6)
       and ($7::text is null or about.event = $7)
       and ($8::timestamptz is null or delivery.created_at >= $8)
       and ($9::timestamptz is null or delivery.created_at < $9)
     order by delivery.created_at desc, delivery.id desc limit $10`,
    [...idAndReference(payment), ...idAndReference(payout), merchantId, status, event, since, until, limit],
  );
  return rows.map(withMaskedUrl);
}

function withMaskedUrl<Delivery extends PaymentDelivery>(delivery: Delivery): Delivery {
  const { origin, pathname, search } = new URL(delivery.url);
  return { ...delivery, url: pathname === '/' && search === '' ? `${origin}/` : `${origin}/…` };
}

import { z } from 'zod';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
import { ATTENTION_LIMIT } from '../operations/find-attention';

const endpointSchema = z.object({ id: z.string(), url: z.string() });

const attentionSchema = z.object({
  /** Deliveries since then that are not attempted again, at most `ATTENTION_LIMIT`. */
  deadDeliveries: z.number(),
  /** Enabled, and their newest attempt failed; those that fail for longest first. */
  failingEndpoints: z.array(endpointSchema.extend({ failingSince: z.coerce.date() })),
  /** Lunas has disabled them, because they failed for days or do not exist any more. */
  stoppedEndpoints: z.array(endpointSchema),
  /** In use until the end of the period, the first to expire first. */
  expiringKeys: z.array(
    z.object({
      id: z.string(),
      name: z.string().nullable(),
      prefix: z.string(),
      lastFour: z.string(),
      expiresAt: z.coerce.date(),
    }),
  ),
});

/** What of a merchant's endpoints and keys a developer has to look at. */
export type DeveloperAttention = z.infer<typeof attentionSchema>;

interface AttentionPeriod {
  /** Dead deliveries that were created since then count. */
  readonly deadSince: Date;
  /** Keys that expire until then count. */
  readonly expiresUntil: Date;
  readonly now: Date;
}

/** Each list has at most so many objects: a page names one, or their number. */
const MAX_OBJECTS = 20;

export async function findDeveloperAttention(
  db: Queryable,
  merchantId: string,
  { deadSince, expiresUntil, now }: AttentionPeriod,
): Promise<DeveloperAttention> {
  const { rows } = await db.query({
    name: 'find_developer_attention',
    text: `with failing as (
        select id, url, failing_since as "failingSince" from webhook_endpoints
        where merchant_id = $1 and status = 'enabled' and failing_since is not null
        order by failing_since, id limit ${MAX_OBJECTS}
      ), stopped as (
        select id, url from webhook_endpoints
        where merchant_id = $1 and status = 'disabled' and disabled_reason in ('failing', 'gone') and deleted_at is null
        order by id limit ${MAX_OBJECTS}
      ), expiring as (
        select id, name, prefix, last_four as "lastFour", expires_at as "expiresAt" from api_keys
        where merchant_id = $1 and revoked_at is null and expires_at > $2 and expires_at <= $3
        order by expires_at, id limit ${MAX_OBJECTS}
      )
      select (select count(*)::integer from (
          select from webhook_deliveries where merchant_id = $1 and status = 'dead' and created_at >= $4
          limit ${ATTENTION_LIMIT}
        ) dead) as "deadDeliveries",
        (select coalesce(json_agg(failing), '[]') from failing) as "failingEndpoints",
        (select coalesce(json_agg(stopped), '[]') from stopped) as "stoppedEndpoints",
        (select coalesce(json_agg(expiring), '[]') from expiring) as "expiringKeys"`,
    values: [merchantId, now, expiresUntil, deadSince],
  });
  return attentionSchema.parse(onlyRow(rows));
}

import type { ActorText } from '../../domain/actor';
import type { LinkTerms } from '../../domain/payment-link';
import type { Queryable } from '../connection/pool';

export type NewLink = LinkTerms & {
  readonly id: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string;
  readonly createdAt: Date;
  readonly createdBy: ActorText;
};

/** @returns whether there was no link with this id */
export async function insertLink(db: Queryable, link: NewLink): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'insert_link',
    text: `insert into payment_links (id, reference_id, merchant_id, provider, kind, amount_rupiah, minimum_rupiah,
        maximum_rupiah, title, merchant_reference_id, return_url, expires_at, payment_expires_in_seconds,
        idempotency_key, fingerprint, created_at, created_by)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
      on conflict (id) do nothing`,
    values: [
      link.id,
      link.referenceId,
      link.merchantId,
      link.provider,
      link.kind,
      link.amountRupiah,
      link.minimumRupiah,
      link.maximumRupiah,
      link.title,
      link.merchantReferenceId,
      link.returnUrl,
      link.expiresAt,
      link.paymentExpiresInSeconds,
      link.idempotencyKey,
      link.fingerprint,
      link.createdAt,
      link.createdBy,
    ],
  });
  return rowCount === 1;
}

/** Closes a link that is not closed. A repeat changes nothing. */
export async function closeLinkRow(
  db: Queryable,
  linkId: string,
  { at, by }: { readonly at: Date; readonly by: ActorText },
): Promise<void> {
  await db.query({
    name: 'close_link',
    text: 'update payment_links set closed_at = $2, closed_by = $3 where id = $1 and closed_at is null',
    values: [linkId, at, by],
  });
}

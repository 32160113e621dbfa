import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { findLink } from '../../db/links/find-link';
import type { PaymentLinkRow } from '../../db/links/payment-link-row';
import { closeLinkRow } from '../../db/links/store-link';
import { actorText, type ActorText, type Scope } from '../../domain/actor';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { parseLinkId } from './path-id';

/** @throws NotFoundError if there is no such link in the scope */
export async function requireLink(db: Queryable, scope: Scope, anyId: string): Promise<PaymentLinkRow> {
  const key = parseLinkId(anyId);
  const link = key && (await findLink(db, scope, key));
  return requireRow(link ? [link] : [], 'paymentLink', anyId);
}

/** Closes a link for new visitors. An open payment of it can still be paid. A repeat changes nothing. */
export async function closePaymentLink(
  db: Queryable,
  link: PaymentLinkRow,
  by: { readonly at: Date; readonly by: ActorText },
): Promise<PaymentLinkRow> {
  if (link.closedAt !== null) return link;
  await closeLinkRow(db, link.id, by);
  return requireLink(db, link, link.id);
}

/** A member closes a payment link, for good. */
export const closeOwnLink = new Operation({
  name: 'payment_link.close',
  member: { area: 'payments', level: 'manage', whileSuspended: true },
  path: z.object({ link: z.string() }),
  input: z.object({}),
  rejections: {},
  messages: {},
  load: ({ db }: AuditDependencies, scope, { link }) => requireLink(db, scope, link),
  target: ({ subject }) => subject.id,
  detail: () => ({}),
  earlier: ({ subject }) => Promise.resolve(subject.closedAt === null ? null : subject),
  perform: async ({ needs: { db }, by, subject }) =>
    done(await closePaymentLink(db, subject, { at: new Date(), by: actorText(by) })),
});

import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import { requireMerchant } from '../../db/merchants/require-merchant';
import { WEBHOOK_EVENTS } from '../../domain/events';
import { EXPANSIONS } from '../../domain/expansions';
import { NotFoundError } from '../../errors';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { foreignMembers, foreignMembersMessage, foreignMembersReason } from './foreign-members';
import { brokenUrlRule, recordedUrl, urlMessage, urlReason, type UrlDependencies } from './receiver-url';
import { findIssuedEndpoint, insertEndpoint } from './webhook-endpoints';

interface CreateDependencies extends UrlDependencies {
  readonly sealer: Sealer;
}

/** Registers an endpoint. Its id is that of the form, so a form that is sent twice registers one endpoint. */
export const createEndpoint = new Operation({
  name: 'webhook.create',
  member: { area: 'developers', level: 'manage', stepUp: true },
  operator: 'all',
  path: z.object({ merchant: z.uuid() }),
  input: z.object({
    url: z.string(),
    /** Empty: every event of payments. */
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    expand: z.array(z.enum(EXPANSIONS)),
  }),
  rejections: {
    ...urlReason,
    ...foreignMembersReason,
    /** The id of the form is that of another object. */
    form_reused: {},
  },
  messages: {
    ...urlMessage,
    ...foreignMembersMessage,
    form_reused: () => 'The id of the request is that of another endpoint.',
  },
  async load({ db }: CreateDependencies, scope, { merchant }) {
    if (scope !== 'all' && scope.merchantId !== merchant) throw new NotFoundError('merchant', merchant);
    await requireMerchant(db, merchant);
    return { merchantId: merchant };
  },
  target: ({ formId }) => formId,
  detail: ({ by, subject, input: { url, ...input } }) => ({
    ...(by.kind !== 'merchant_user' && { merchant: subject.merchantId }),
    ...input,
    url: recordedUrl(by, url),
  }),
  earlier: ({ needs: { db }, subject, formId }) => findIssuedEndpoint(db, subject.merchantId, formId),
  async perform({ needs, by, subject: { merchantId }, input, formId }) {
    const rejection = foreignMembers(by, input.expand) ?? (await brokenUrlRule(needs, input.url));
    if (rejection !== null) return rejected(rejection);
    const created = await insertEndpoint(needs.db, needs.sealer, { id: formId, merchantId, ...input });
    // The same form was sent twice within a moment.
    const issued = created ?? (await findIssuedEndpoint(needs.db, merchantId, formId));
    return issued === null ? rejected({ reason: 'form_reused' }) : done(issued);
  },
});

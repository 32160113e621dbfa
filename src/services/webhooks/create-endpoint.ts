import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../domain/events';
import { WEBHOOK_EXPANSIONS } from '../../domain/expansions';
import { loadManagedMerchant } from '../merchants/managed-merchant';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import type { SealingDependencies } from '../provider-accounts/provider-accounts';
import { foreignMembers, foreignMembersMessage, foreignMembersReason } from './foreign-members';
import { brokenUrlRule, recordedUrl, urlMessage, urlReason, type UrlDependencies } from './receiver-url';
import { findIssuedEndpoint, insertEndpoint } from './webhook-endpoints';

type CreateDependencies = UrlDependencies & SealingDependencies;

/**
 * Registers an endpoint. Its id is that of the form, so a form that is sent twice registers one endpoint. Who receives
 * webhooks decides what a shop delivers: if the merchant has members, two operators decide.
 */
export const createEndpoint = new Operation({
  name: 'webhook.create',
  member: { area: 'developers', level: 'manage', stepUp: true },
  operator: 'all',
  path: z.object({ merchant: z.uuid() }),
  input: z.object({
    url: z.string(),
    /** Empty: every event of payments. */
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    expand: z.array(z.enum(WEBHOOK_EXPANSIONS)),
    /** In the request of two operators, so that it registers one endpoint. Absent: that of the form. */
    id: z.uuid().optional(),
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
  load: ({ db }: CreateDependencies, scope, { merchant }) => loadManagedMerchant(db, scope, merchant),
  target: ({ input, formId }) => input.id ?? formId,
  approval: {
    executes: 'database',
    isExempt: ({ hasMember }) => !hasMember,
    target: ({ subject }) => subject.merchantId,
    propose: ({ subject: { merchantId }, input, formId }) => ({
      parameters: { merchant: merchantId, ...input, id: formId },
      store: () => Promise.resolve(),
    }),
  },
  detail: ({ by, subject, input: { url, ...input } }) => ({
    ...(by.kind !== 'merchant_user' && { merchant: subject.merchantId }),
    ...input,
    url: recordedUrl(by, url),
  }),
  earlier: ({ needs: { db }, subject, input, formId }) =>
    findIssuedEndpoint(db, subject.merchantId, input.id ?? formId),
  async perform({ needs, by, subject: { merchantId }, input, formId }) {
    const rejection = foreignMembers(by, input.expand) ?? (await brokenUrlRule(needs, input.url));
    if (rejection !== null) return rejected(rejection);
    const id = input.id ?? formId;
    const created = await insertEndpoint(needs.db, await needs.loadSealer(), { ...input, id, merchantId });
    // The same form was sent twice within a moment.
    const issued = created ?? (await findIssuedEndpoint(needs.db, merchantId, id));
    return issued === null ? rejected({ reason: 'form_reused' }) : done(issued);
  },
});

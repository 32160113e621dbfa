import { z } from 'zod';
import { scopeOf } from '../../domain/actor';
import { WEBHOOK_EVENTS } from '../../domain/events';
import { scopesOfExpansions, WEBHOOK_EXPANSIONS } from '../../domain/expansions';
import { foreignScopes, foreignScopesMessage, foreignScopesReason } from '../merchants/keys/foreign-scopes';
import { hasMember } from '../merchants/managed-merchant';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { foreignMembers, foreignMembersMessage, foreignMembersReason } from './foreign-members';
import { brokenUrlRule, recordedUrl, urlMessage, urlReason, type UrlDependencies } from './receiver-url';
import { findEndpoint, storedEvents, storedExpansions } from './webhook-endpoints';

/** What is known of the health of an endpoint at a new URL. */
const HEALTHY = [
  ['consecutive_failures', '0'],
  ['failing_since', 'null'],
  ['next_probe_at', 'null'],
] as const;

const RESET_IF_MOVED = HEALTHY.map(
  ([column, healthy]) => `${column} = case when $2::text is distinct from url and $2 is not null
    then ${healthy} else ${column} end`,
).join(', ');

/**
 * Changes the URL, the events and the added members of an endpoint. Its next attempts go to the new URL, whose health
 * is not known yet, and have these members. Its events change for what happens from now on. If the merchant has
 * members, two operators decide.
 */
export const setEndpoint = new Operation({
  name: 'webhook.set',
  member: { area: 'developers', level: 'manage', stepUp: true },
  operator: 'all',
  path: z.object({ endpoint: z.uuid() }),
  input: z.object({
    url: z.string().optional(),
    /** Empty: every event of payments. */
    events: z.array(z.enum(WEBHOOK_EVENTS)).optional(),
    /** Empty: nothing. */
    expand: z.array(z.enum(WEBHOOK_EXPANSIONS)).optional(),
  }),
  rejections: { ...foreignScopesReason, ...foreignMembersReason, ...urlReason },
  messages: { ...foreignScopesMessage, ...foreignMembersMessage, ...urlMessage },
  async load({ db }: UrlDependencies, scope, { endpoint: id }) {
    const endpoint = await findEndpoint(db, scope, id);
    return { ...endpoint, hasMember: await hasMember(db, endpoint.merchantId) };
  },
  target: ({ subject }) => subject.id,
  approval: { executes: 'database', isExempt: (endpoint) => !endpoint.hasMember },
  // The URL and the members of before, because the row of the endpoint has only the new ones.
  detail: ({ by, subject, input: { events, expand, url } }) => ({
    events,
    ...(expand !== undefined && { expand_before: subject.expand, expand }),
    ...(url !== undefined && { url_before: recordedUrl(by, subject.url), url: recordedUrl(by, url) }),
  }),
  // Another address would receive what the endpoint adds.
  allows: ({ expand }, by) => foreignScopes(by, scopesOfExpansions(expand)),
  async perform({ needs, by, subject: { id }, input: { url, events, expand } }) {
    const rejection = foreignMembers(by, expand ?? []) ?? (url === undefined ? null : await brokenUrlRule(needs, url));
    if (rejection !== null) return rejected(rejection);
    await needs.db.query(
      `update webhook_endpoints set url = coalesce($2, url), events = case when $3 then $4 else events end,
         expand = coalesce($5, expand), ${RESET_IF_MOVED}
       where id = $1 and deleted_at is null`,
      [id, url, events !== undefined, events && storedEvents(events), expand && storedExpansions(expand)],
    );
    return done(await findEndpoint(needs.db, scopeOf(by), id));
  },
});

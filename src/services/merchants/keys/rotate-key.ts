import { z } from 'zod';
import { createSecretKey } from '../../../crypto/secret-key';
import { findCell } from '../../../db/connection/environment';
import { actorText } from '../../../domain/actor';
import { keyStateOf } from '../../../domain/key-access';
import { Operation } from '../../operations/operation';
import type { Act } from '../../operations/operation-spec';
import { done, rejected } from '../../operations/rejections';
import { describeKey, findIssuedKey, findKey, KEY_COLUMNS, type ApiKeyDetails, type KeyRow } from './api-key';
import type { IssueDependencies } from './create-key';
import { foreignScopes, foreignScopesMessage, foreignScopesReason } from './foreign-scopes';

/** For how many hours a key can be used beside the one that replaces it. */
export const KEY_OVERLAPS_HOURS = [0, 1, 24, 72] as const;

interface OverlapInput {
  readonly overlapHours: number;
}

/**
 * Issues a key with the name, the scopes and the networks of an old one, which expires after the overlap or at its own
 * earlier expiry. A key with an expiry is replaced by one with the same lifetime. The id of the new key is that of the
 * form, so a form that is sent twice issues one key.
 */
export const rotateKey = new Operation({
  name: 'key.rotate',
  member: { area: 'developers', level: 'manage', stepUp: true },
  path: z.object({ key: z.uuid() }),
  input: z.object({ overlapHours: z.literal(KEY_OVERLAPS_HOURS) }),
  rejections: { key_ended: {}, ...foreignScopesReason },
  messages: { key_ended: () => 'The key is revoked or expired: create a new one.', ...foreignScopesMessage },
  load: ({ db }: IssueDependencies, scope, { key }) => findKey(db, scope, key),
  target: ({ subject }) => subject.id,
  allows: (key, by) => (isInUse(key) ? foreignScopes(by, key.scopes) : { reason: 'key_ended' }),
  async earlier({ needs: { db }, subject, formId }) {
    const issued = await findIssuedKey(db, subject, formId);
    return issued && { issued, oldKeyEndsAt: null };
  },
  async perform(act) {
    const { needs, subject } = act;
    const issued = (await insertReplacement(act)) ?? (await findIssuedKey(needs.db, subject, act.formId));
    if (issued === null) return rejected({ reason: 'key_ended' });
    const { expiresAt } = await findKey(needs.db, subject, subject.id);
    return done({ issued, oldKeyEndsAt: expiresAt });
  },
});

function isInUse(key: ApiKeyDetails): boolean {
  const state = keyStateOf(key, Date.now());
  return state === 'active' || state === 'expiring';
}

/** One statement. Null: there is a key with the id of the form, or the old key has ended. */
async function insertReplacement({
  needs,
  by,
  subject,
  input,
  formId,
}: Act<IssueDependencies, ApiKeyDetails, OverlapInput>) {
  const { secret, secretSha256, prefix, lastFour } = createSecretKey(needs.environment, await findCell(needs.db));
  const { rows } = await needs.db.query<KeyRow>(
    `with old as (
       select id as old_id, merchant_id as owner, name as old_name, scopes as old_scopes,
         allowed_networks as old_networks, now() + (expires_at - created_at) as new_expiry
       from api_keys
       where id = $1 and revoked_at is null and (expires_at is null or expires_at > now())
         and not exists (select from api_keys where id = $3)
       for update
     ), ended as (
       update api_keys set expires_at = least(expires_at, now() + $2 * interval '1 hour') from old where id = old_id
     )
     insert into api_keys
       (id, merchant_id, secret_sha256, prefix, last_four, allowed_networks, scopes, expires_at, name, created_by)
     select $3, owner, $4, $5, $6, old_networks, old_scopes, new_expiry, old_name, $7 from old
     on conflict (id) do nothing returning ${KEY_COLUMNS}`,
    [subject.id, input.overlapHours, formId, secretSha256, prefix, lastFour, actorText(by)],
  );
  return rows[0] === undefined ? null : { ...describeKey(rows[0]), secret };
}

import { z } from 'zod';
import { requireRow } from '../../../db/connection/require-row';
import type { AuditDependencies } from '../../audit/audit';
import { Operation } from '../../operations/operation';
import { done, rejected } from '../../operations/rejections';
import { findKey } from './api-key';

/** Ends a key permanently. A key that was revoked before keeps its time. */
export const revokeKey = new Operation({
  name: 'key.revoke',
  member: { area: 'developers', level: 'manage', stepUp: true, whileSuspended: true },
  operator: 'all',
  path: z.object({ key: z.uuid() }),
  input: z.object({}),
  rejections: { key_revoked: { revokedAt: z.date() } },
  messages: { key_revoked: ({ revokedAt }) => `The key was revoked at ${revokedAt.toISOString()}.` },
  load: ({ db }: AuditDependencies, scope, { key }) => findKey(db, scope, key),
  target: ({ subject }) => subject.id,
  allows: ({ revokedAt }) => (revokedAt ? { reason: 'key_revoked', revokedAt } : null),
  async perform({ needs: { db }, subject: key }) {
    const { rows } = await db.query<{ revokedAt: Date; isNew: boolean }>(
      `with before as (select id, revoked_at is null as is_new from api_keys where id = $1 for update)
       update api_keys set revoked_at = coalesce(revoked_at, now()) from before where api_keys.id = before.id
       returning revoked_at as "revokedAt", is_new as "isNew"`,
      [key.id],
    );
    const { revokedAt, isNew } = requireRow(rows, 'key', key.id);
    return isNew ? done({ ...key, revokedAt }) : rejected({ reason: 'key_revoked', revokedAt });
  },
});

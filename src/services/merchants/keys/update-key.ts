import { z } from 'zod';
import { requireRow } from '../../../db/connection/require-row';
import { networksOf } from '../../../db/merchants/key-access-columns';
import type { AuditDependencies } from '../../audit/audit';
import { Operation } from '../../operations/operation';
import { done } from '../../operations/rejections';
import { findKey, keyName, keyNetworks } from './api-key';
import { foreignScopes, foreignScopesMessage, foreignScopesReason } from './foreign-scopes';

/** Changes the name of a key, and from where it may be used. */
export const updateKey = new Operation({
  name: 'key.update',
  member: { area: 'developers', level: 'manage', stepUp: true },
  path: z.object({ key: z.uuid() }),
  input: z.object({ name: keyName, allowedNetworks: keyNetworks }),
  rejections: foreignScopesReason,
  messages: foreignScopesMessage,
  load: ({ db }: AuditDependencies, scope, { key }) => findKey(db, scope, key),
  target: ({ subject }) => subject.id,
  allows: ({ scopes }, by) => foreignScopes(by, scopes),
  async perform({ needs: { db }, subject, input }) {
    const { rows } = await db.query<{ id: string }>(
      `update api_keys set name = $2, allowed_networks = ${networksOf('$3')} where id = $1 returning id`,
      [subject.id, input.name, input.allowedNetworks],
    );
    return done(requireRow(rows, 'key', subject.id));
  },
});

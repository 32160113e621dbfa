import { z } from 'zod';
import { MERCHANT_SCOPES } from '../../domain/key-access';
import { createKey, listKeys, revokeKey } from '../../operator/keys';
import { withCommandAudit } from '../operator-identity';
import {
  addKeyAccessOptions,
  keyAccessColumns,
  keyAccessFields,
  keyAccessSchemas,
  toKeyAccess,
} from '../key-access-options';
import type { LunasCommand } from '../lunas-command';
import { id } from '../option-schemas';
import { formatFields, formatTable } from '../output';

export function addKeysCommand(program: LunasCommand): void {
  const keys = program.command('keys').description("merchants' secret keys for the API");
  const create = keys
    .command('create')
    .description('create a secret key; it is shown only once')
    .requiredOption('--merchant <id>', 'the owner of the key');
  addKeyAccessOptions(create, MERCHANT_SCOPES)
    .examples(
      'lunas keys create --merchant MERCHANT_ID',
      'lunas keys create --merchant MERCHANT_ID --allow-ip 203.0.113.7 --allow-ip 198.51.100.0/24',
      'lunas keys create --merchant MERCHANT_ID --scopes read,create --expires 90d',
    )
    .databaseAction(
      z.object({ merchant: id, ...keyAccessSchemas(MERCHANT_SCOPES) }),
      async ({ merchant, ...access }, db, context) => {
        const environment = context.config.LUNAS_ENVIRONMENT;
        const key = await createKey(db, { merchantId: merchant, environment, ...toKeyAccess(access) });
        const ids = { 'Secret key': key.secret, Key: key.id, Merchant: key.merchantId };
        const fields = formatFields({ ...ids, ...keyAccessFields(key) });
        return { json: { key }, text: `${fields}\n\nKeep the secret key now: it is not shown again.` };
      },
    );
  keys
    .command('list')
    .description("list a merchant's keys, without their secrets")
    .requiredOption('--merchant <id>', 'the owner of the keys')
    .databaseAction(z.object({ merchant: id }), async ({ merchant }, db) => {
      const list = await listKeys(db, merchant);
      const rows = list.map((key) => ({
        ID: key.id,
        KEY: key.masked,
        ...keyAccessColumns(key),
        'LAST USED': key.lastUsedAt,
        CREATED: key.createdAt,
        REVOKED: key.revokedAt,
      }));
      return { json: { keys: list }, text: formatTable(rows, 'This merchant has no key yet.') };
    });
  keys
    .command('revoke <key-id>')
    .description('revoke a key permanently')
    .databaseAction(z.object({ keyId: id }), async ({ keyId }, db) => {
      const key = await withCommandAudit(db, 'key.revoke', keyId, () => revokeKey(db, keyId));
      return { json: { key }, text: `${key.masked} (${key.id}) is revoked.` };
    });
}

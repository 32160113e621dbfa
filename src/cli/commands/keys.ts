import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/pool';
import { MERCHANT_SCOPES } from '../../domain/key-access';
import { withAudit } from '../../operator/audit';
import { createKey, listKeys, revokeKey } from '../../operator/keys';
import { type ResealedTable, resealAll } from '../../operator/reseal';
import { commandOperator, withCommandAudit } from '../operator-identity';
import {
  addKeyAccessOptions,
  keyAccessColumns,
  keyAccessFields,
  keyAccessSchemas,
  toKeyAccess,
} from '../key-access-options';
import type { LunasCommand } from '../lunas-command';
import { id, note } from '../option-schemas';
import { formatFields, formatTable } from '../output';

export function addKeysCommand(program: LunasCommand): void {
  const keys = program.command('keys').description("merchants' secret keys for the API; the master key");
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
      async ({ merchant, ...access }, db, _, environment) => {
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
  addReseal(keys);
}

function addReseal(keys: LunasCommand): void {
  keys
    .command('reseal')
    .description('seal every value again with LUNAS_MASTER_KEY, so that LUNAS_OLD_MASTER_KEYS is not needed any more')
    .option('--note <text>', 'why, for the audit log')
    .examples('LUNAS_MASTER_KEY=NEW LUNAS_OLD_MASTER_KEYS=OLD lunas keys reseal --note "yearly rotation"')
    .databaseAction(
      z.object({ note: note.optional() }),
      async ({ note }, db, context) => {
        const sealer = await context.sealer(db);
        const masterKey = sealer.keys.current.id;
        const report = ({ table, resealed }: ResealedTable) =>
          keys.terminal.stderr.write(`${table}: ${resealed} resealed\n`);
        const action = { action: 'master_key.reseal', target: masterKey, note } as const;
        const tables = await withAudit(db, commandOperator(), action, () => resealAll(db, sealer, report));
        const text = formatTable(
          tables.map(({ table, resealed }) => ({ TABLE: table, RESEALED: resealed })),
          '',
        );
        return { json: { masterKey, tables }, text: `${text}\n\nEvery value is sealed with master key ${masterKey}.` };
      },
      LONG_STATEMENT_MS,
    );
}

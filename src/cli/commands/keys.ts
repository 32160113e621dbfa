import { z } from 'zod';
import { findCell } from '../../db/connection/environment';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { MERCHANT_SCOPES } from '../../domain/key-access';
import { findKey, listKeys, MAX_KEY_NAME_CHARACTERS } from '../../services/merchants/keys/api-key';
import { createKey, keyToPassOn } from '../../services/merchants/keys/create-key';
import { revokeKey } from '../../services/merchants/keys/revoke-key';
import { requireDone } from '../../services/operations/require-done';
import { resealValues, type ResealedTable } from '../../services/recovery/reseal';
import { howToApprove } from '../error-hints';
import { addKeyAccessOptions, keyAccessColumns, keyAccessFields, keyAccessSchemas } from '../key-access-options';
import type { LunasCommand } from '../lunas-command';
import { id, textUpTo } from '../option-schemas';
import { formatFields, formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

export function defineKeys(keys: LunasCommand): void {
  const create = keys
    .command('create')
    .description('create a secret key; it is shown only once')
    .requiredOption('--merchant <id>', 'the owner of the key')
    .option('--name <text>', 'what the merchant calls it, at most 64 characters');
  addKeyAccessOptions(create, MERCHANT_SCOPES)
    .examples(
      'lunas keys create --merchant MERCHANT_ID --name "Shop server"',
      'lunas keys create --merchant MERCHANT_ID --allow-ip 203.0.113.7 --allow-ip 198.51.100.0/24',
      'lunas keys create --merchant MERCHANT_ID --scopes read,create --expires 90d',
    )
    .writeAction(
      z.object({
        merchant: id,
        name: textUpTo(MAX_KEY_NAME_CHARACTERS).optional(),
        ...keyAccessSchemas(MERCHANT_SCOPES),
      }),
      async ({ merchant, name, allowIp, scopes, expires }, audit, _, environment) => {
        const { db, log } = audit;
        const { secret, passedOn } = keyToPassOn(environment, await findCell(db));
        const call = {
          path: { merchant },
          input: { name, scopes, allowedNetworks: allowIp, expiresAt: expires, passedOn },
        };
        const result = await runOperation(audit, createKey, { db, log, environment }, call);
        if (result.outcome === 'waits') return waitingKey({ id: passedOn.id, merchantId: merchant, secret }, result);
        const key = { ...requireDone(result), secret };
        const ids = { 'Secret key': secret, Name: key.name, Key: key.id, Merchant: key.merchantId };
        return { json: { key }, text: `${formatFields({ ...ids, ...keyAccessFields(key) })}\n\n${SHOWN_ONCE}` };
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
        NAME: key.name,
        KEY: key.masked,
        ...keyAccessColumns(key),
        'LAST USED': key.lastUsedAt,
        CREATED: key.createdAt,
        BY: key.createdBy,
        REVOKED: key.revokedAt,
      }));
      return { json: { keys: list }, text: formatTable(rows, 'This merchant has no key yet.') };
    });
  keys
    .command('revoke <key-id>')
    .description('revoke a key permanently')
    .writeAction(z.object({ keyId: id }), async ({ keyId }, audit) => {
      await runOperation(audit, revokeKey, audit, { path: { key: keyId }, input: {} });
      const key = await findKey(audit.db, 'all', keyId);
      return { json: { key }, text: `${key.masked} (${key.id}) is revoked.` };
    });
  addReseal(keys);
}

const SHOWN_ONCE = 'Keep the secret key now: it is not shown again.';

/** A key that works when a second operator has approved it. */
function waitingKey(
  key: { readonly id: string; readonly merchantId: string; readonly secret: string },
  { approvalId }: { readonly approvalId: number },
): CommandResult {
  const fields = formatFields({ 'Secret key': key.secret, Key: key.id, Merchant: key.merchantId });
  const text = `${fields}\n\n${SHOWN_ONCE}\nIt does not work yet: ${howToApprove(approvalId)}`;
  return { json: { key, approvalId }, text };
}

function addReseal(keys: LunasCommand): void {
  keys
    .command('reseal')
    .description('seal every value again with LUNAS_MASTER_KEY, so that LUNAS_OLD_MASTER_KEYS is not needed any more')
    .examples('LUNAS_MASTER_KEY=NEW LUNAS_OLD_MASTER_KEYS=OLD lunas keys reseal --note "yearly rotation"')
    .writeAction(
      z.object({}),
      async (_, audit, context) => {
        const sealer = await context.sealer(audit.db);
        const masterKey = sealer.keys.current.id;
        const report = ({ table, resealed }: ResealedTable) =>
          keys.terminal.stderr.write(`${table}: ${resealed} resealed\n`);
        const call = { path: {}, input: {} };
        const tables = requireDone(await runOperation(audit, resealValues, { ...audit, sealer, report }, call));
        const text = formatTable(
          tables.map(({ table, resealed }) => ({ TABLE: table, RESEALED: resealed })),
          '',
        );
        return { json: { masterKey, tables }, text: `${text}\n\nEvery value is sealed with master key ${masterKey}.` };
      },
      { statementTimeoutMs: LONG_STATEMENT_MS },
    );
}

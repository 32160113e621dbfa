import type { Command } from 'commander';
import { z } from 'zod';
import { type ApiKey, createKey, isNetwork, listKeys, revokeKey } from '../../operator/keys';
import { withCommandAudit } from '../operator-identity';
import { defineAction, collect, withExamples } from '../command-action';
import { id } from '../option-schemas';
import { formatFields, formatTable } from '../output';
import { withDatabase } from '../command-context';
import type { Terminal } from '../terminal';

const network = z.string().refine(isNetwork, {
  error: 'must be an IP address or a network such as 203.0.113.0/24 or 2001:db8::/32',
});

export function addKeysCommand(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description("merchants' secret keys for the API");
  addCreate(keys, terminal);
  addList(keys, terminal);
  addRevoke(keys, terminal);
}

function addCreate(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('create')
    .description('create a secret key; it is shown only once')
    .requiredOption('--merchant <id>', 'the owner of the key')
    .option('--allow-ip <cidr>', 'an allowed caller address or network; repeat for more (default: anywhere)', collect);
  withExamples(
    command,
    'lunas keys create --merchant MERCHANT_ID',
    'lunas keys create --merchant MERCHANT_ID --allow-ip 203.0.113.7 --allow-ip 198.51.100.0/24',
  );
  const input = z.object({ merchant: id, allowIp: z.array(network).default([]) });
  defineAction(command, terminal, input, ({ merchant, allowIp }, context) =>
    withDatabase(context, async (db) => {
      const environment = context.config.LUNAS_ENVIRONMENT;
      const key = await createKey(db, { merchantId: merchant, allowedNetworks: allowIp, environment });
      const fields = { 'Secret key': key.secret, Key: key.id, Merchant: key.merchantId, From: allowedFrom(key) };
      return { json: { key }, text: `${formatFields(fields)}\n\nKeep the secret key now: it is not shown again.` };
    }),
  );
}

function addList(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('list')
    .description("list a merchant's keys, without their secrets")
    .requiredOption('--merchant <id>', 'the owner of the keys');
  const columns = {
    ID: (key: ApiKey) => key.id,
    KEY: (key: ApiKey) => key.masked,
    FROM: allowedFrom,
    CREATED: (key: ApiKey) => key.createdAt,
    REVOKED: (key: ApiKey) => key.revokedAt,
  };
  defineAction(command, terminal, z.object({ merchant: id }), ({ merchant }, context) =>
    withDatabase(context, async (db) => {
      const list = await listKeys(db, merchant);
      return { json: { keys: list }, text: formatTable(list, columns, 'This merchant has no key yet.') };
    }),
  );
}

function addRevoke(keys: Command, terminal: Terminal): void {
  const command = keys.command('revoke <key-id>').description('revoke a key permanently');
  defineAction(command, terminal, z.object({ keyId: id }), ({ keyId }, context) =>
    withDatabase(context, async (db) => {
      const key = await withCommandAudit(db, 'key.revoke', keyId, () => revokeKey(db, keyId));
      return { json: { key }, text: `${key.masked} (${key.id}) is revoked.` };
    }),
  );
}

function allowedFrom(key: ApiKey): string {
  return key.allowedNetworks.join(', ') || 'anywhere';
}

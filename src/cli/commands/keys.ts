import { z } from 'zod';
import { type ApiKey, createKey, isNetwork, listKeys, revokeKey } from '../../operator/keys';
import { withCommandAudit } from '../operator-identity';
import { collect, type LunasCommand } from '../lunas-command';
import { id } from '../option-schemas';
import { formatFields, formatTable } from '../output';

const network = z.string().refine(isNetwork, {
  error: 'must be an IP address or a network such as 203.0.113.0/24 or 2001:db8::/32',
});

export function addKeysCommand(program: LunasCommand): void {
  const keys = program.command('keys').description("merchants' secret keys for the API");
  keys
    .command('create')
    .description('create a secret key; it is shown only once')
    .requiredOption('--merchant <id>', 'the owner of the key')
    .option('--allow-ip <cidr>', 'an allowed caller address or network; repeat for more (default: anywhere)', collect)
    .examples(
      'lunas keys create --merchant MERCHANT_ID',
      'lunas keys create --merchant MERCHANT_ID --allow-ip 203.0.113.7 --allow-ip 198.51.100.0/24',
    )
    .databaseAction(
      z.object({ merchant: id, allowIp: z.array(network).default([]) }),
      async ({ merchant, allowIp }, db, context) => {
        const environment = context.config.LUNAS_ENVIRONMENT;
        const key = await createKey(db, { merchantId: merchant, allowedNetworks: allowIp, environment });
        const fields = { 'Secret key': key.secret, Key: key.id, Merchant: key.merchantId, From: allowedFrom(key) };
        return { json: { key }, text: `${formatFields(fields)}\n\nKeep the secret key now: it is not shown again.` };
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
        FROM: allowedFrom(key),
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

function allowedFrom(key: ApiKey): string {
  return key.allowedNetworks.join(', ') || 'anywhere';
}

import { z } from 'zod';
import type { KeyAccess } from '../domain/key-access';
import { isNetwork } from '../lib/allowed-networks';
import { collect, type LunasCommand } from './lunas-command';
import { expiry, listOf } from './option-schemas';

const network = z.string().refine(isNetwork, {
  error: 'must be an IP address or a network such as 203.0.113.0/24 or 2001:db8::/32',
});

/** The options that restrict a new key. */
export function addKeyAccessOptions(command: LunasCommand, scopes: readonly string[]): LunasCommand {
  return command
    .option('--allow-ip <cidr>', 'an allowed caller address or network; repeat for more (default: anywhere)', collect)
    .option('--scopes <list>', `what the key may do: ${scopes.join(',')} (default: all)`)
    .option('--expires <when>', 'a duration such as 90d, or a timestamp (default: never)');
}

/** The schemas of these options. */
export function keyAccessSchemas<const Scopes extends readonly string[]>(scopes: Scopes) {
  return {
    allowIp: z.array(network).default([]),
    scopes: listOf(scopes).optional(),
    expires: expiry.optional(),
  };
}

/** The restrictions of a key as fields of its text. */
export function keyAccessFields({ allowedNetworks, scopes, expiresAt }: KeyAccess<string>) {
  return {
    From: allowedNetworks.join(', ') || 'anywhere',
    Scopes: scopes?.join(', ') ?? 'all',
    Expires: expiresAt ?? 'never',
  };
}

/** The access of a key as columns of a table. */
export function keyAccessColumns(key: KeyAccess<string>) {
  const { From, Scopes, Expires } = keyAccessFields(key);
  return { FROM: From, SCOPES: Scopes, EXPIRES: Expires };
}

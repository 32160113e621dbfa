/** The columns of `KeyAccess`, for keys of merchants and of operators. */
export const KEY_ACCESS_COLUMNS = `allowed_networks as "allowedNetworks", scopes, expires_at as "expiresAt"`;

/** The distinct networks of a parameter with addresses and networks. */
export function networksOf(parameter: string): string {
  return `(select coalesce(array_agg(distinct network(network_or_address::inet)), '{}')
    from unnest(${parameter}::text[]) network_or_address)`;
}

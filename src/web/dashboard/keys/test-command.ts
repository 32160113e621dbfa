import type { IssuedKey } from '../../../services/merchants/keys';

/** A command that shows whether the key works; null if the scopes allow none that needs no payment. */
export function testCommandOf({ secret, scopes }: IssuedKey, publicBaseUrl: string): string | null {
  const allows = (scope: 'read' | 'create') => scopes === null || scopes.includes(scope);
  const header = `-H 'Authorization: Bearer ${secret}'`;
  if (allows('read')) return `curl -sS ${publicBaseUrl}/transactions ${header}`;
  if (!allows('create')) return null;
  return `curl -sS ${publicBaseUrl}/payments ${header} -H 'Content-Type: application/json' -d '{"amount":50000}'`;
}

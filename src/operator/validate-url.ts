import { UserError } from '../errors';

/**
 * Returns the URL if it violates no rule.
 * @throws UserError that names the violated rule
 */
export function assertUrl(url: string, violation: string | null): string {
  if (violation !== null) throw new UserError(`The URL ${violation}: ${url}`);
  return url;
}

import type { Config } from '../config';
import { UserError } from '../errors';
import { urlFormatViolation, urlViolation, type ReceiverRules } from '../webhooks/ssrf-guard';

/**
 * Checks an address that Lunas will call: http or https (in production: https), without user info.
 * @throws UserError that names the violated rule
 */
export function assertOutgoingUrl(text: string, environment: Config['LUNAS_ENVIRONMENT']): string {
  return assertUrl(text, urlFormatViolation(text, environment));
}

/**
 * Checks the address of a webhook receiver. The addresses of its host name are checked at each connection.
 * @throws UserError that names the violated rule
 */
export function assertWebhookUrl(text: string, rules: ReceiverRules): string {
  return assertUrl(text, urlViolation(text, rules));
}

function assertUrl(text: string, violation: string | null): string {
  if (violation !== null) throw new UserError(`The URL ${violation}: ${text}`);
  return text;
}

import type { Config } from '../config';
import { UserError } from '../errors';
import { urlFormatViolation, urlViolation, type ReceiverRules } from '../webhooks/ssrf-guard';

/**
 * Refuses an address that we are to call: it must be http or https (in production: https) and carry no user info.
 * @throws UserError that says which rule is broken
 */
export function assertOutgoingUrl(text: string, environment: Config['LUNAS_ENVIRONMENT']): string {
  return assertUrl(text, urlFormatViolation(text, environment));
}

/**
 * Refuses an address that no webhook would be sent to. What its host name resolves to is checked at each connection.
 * @throws UserError that says which rule is broken
 */
export function assertWebhookUrl(text: string, rules: ReceiverRules): string {
  return assertUrl(text, urlViolation(text, rules));
}

function assertUrl(text: string, violation: string | null): string {
  if (violation !== null) throw new UserError(`The URL ${violation}: ${text}`);
  return text;
}

import { type Config, UserError } from '../config';
import { brokenFormRule, brokenUrlRule, type ReceiverRules } from '../webhooks/guard';

/**
 * Refuses an address that we are to call: it must be http or https (in production: https) and carry no user info.
 * @throws UserError that says which rule is broken
 */
export function requireOutgoingUrl(text: string, environment: Config['LUNAS_ENVIRONMENT']): string {
  return requireUnbroken(text, brokenFormRule(text, environment));
}

/**
 * Refuses an address that no webhook would be sent to. What its host name resolves to is checked at each connection.
 * @throws UserError that says which rule is broken
 */
export function requireReceiverUrl(text: string, rules: ReceiverRules): string {
  return requireUnbroken(text, brokenUrlRule(text, rules));
}

function requireUnbroken(text: string, broken: string | null): string {
  if (broken !== null) throw new UserError(`The URL ${broken}: ${text}`);
  return text;
}

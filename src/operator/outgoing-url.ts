import { type Config, UserError } from '../config';

/**
 * Refuses an address that we are to call: it must be http or https (in production: https) and carry no user info.
 * Whether the network behind it may be called is decided at each call.
 * @throws UserError that says which rule is broken
 */
export function requireOutgoingUrl(text: string, environment: Config['LUNAS_ENVIRONMENT']): string {
  const rule = brokenRule(text, environment);
  if (rule !== null) throw new UserError(`The URL ${rule}: ${text}`);
  return text;
}

function brokenRule(text: string, environment: Config['LUNAS_ENVIRONMENT']): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    return 'must be absolute and begin with http:// or https://';
  if (environment === 'production' && url.protocol !== 'https:') return 'must begin with https:// in production';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  return null;
}

import { pino, type DestinationStream, type Logger } from 'pino';
import { logIds } from './correlation';

export type { Logger };

/**
 * A secret without its last four characters, anywhere in a line: a merchant's or an operator's key, a webhook secret, a
 * server key of Midtrans. The prefix identifies the kind; a wrong length does not make it public. A webhook secret is
 * base64, and percent-encoded in an address.
 */
const SECRET = new RegExp(
  [
    /((?:sk|op)_(?:test|live)_|Mid-server-)[\w-]{8,}(?=[\w-]{4})/,
    /(whsec_)[\w+/=%-]{8,}(?=[\w+/=%-]{4})/,
    /(?:\b|(?<=%[\dA-Fa-f]{2}))((?:ses|lnk)_)[\w-]{39}(?=[\w-]{4})/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Fields that have a secret of any form: keys of ours, credentials of an acquirer, and headers of a call to it. */
const SECRET_FIELDS = [
  'secret',
  'authorization',
  'serverKey',
  'clientSecret',
  'privateKey',
  'merchantKey',
  'accessToken',
  'x-signature',
] as const;

/** The password in the address of a server, as in an error of a driver or in a variable. */
const PASSWORD = /(:\/\/[^\s/:@"']{0,100}:)[^\s/@"']{1,200}(?=@)/g;

/** A signed token (JWT), as Temporal Cloud and banks issue them. Its signature is the last part. */
const SIGNED_TOKEN = /\beyJ[\w-]{8,2000}\.eyJ[\w-]{2,4000}\.[\w-]{8,1000}/g;

const SECRET_FIELD = new RegExp(`"(?:${SECRET_FIELDS.join('|')})":`);

/** The text with its secrets masked: of a key only the kind and the last four characters are left. */
export function maskSecrets(text: string): string {
  return text.replaceAll(SECRET, '$1$2$3…').replaceAll(PASSWORD, '$1…').replaceAll(SIGNED_TOKEN, 'eyJ…');
}

/** A line has such a field seldom or never, so it is searched before it is parsed. */
function maskLine(line: string): string {
  return maskSecrets(SECRET_FIELD.test(line) ? censorSecretFields(line) : line);
}

function censorSecretFields(line: string): string {
  const names: ReadonlySet<string> = new Set(SECRET_FIELDS);
  const fields: unknown = JSON.parse(line, (name, value: unknown) => (names.has(name) ? '[Redacted]' : value));
  return `${JSON.stringify(fields)}\n`;
}

/**
 * The process's log: one JSON object per line on stderr, because stdout has the results of commands. Secrets are
 * masked in every line, also if an address or an error contains one. Each line has the ids of its scope
 * (`correlation.ts`).
 */
export function createLogger(
  process: string,
  level: string,
  destination: DestinationStream = pino.destination({ fd: 2, sync: false }),
): Logger {
  return pino(
    {
      level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: logIds,
      // Temporal's SDK names an error `error`.
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
      hooks: { streamWrite: maskLine },
    },
    destination,
  );
}

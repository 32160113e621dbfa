import { z } from 'zod';
import type { Pool } from '../../db/connection/pool';
import { messageOf } from '../../errors';
import { snakeCaseKeys } from '../../lib/snake-case';
import { onStopSignal } from '../../local-stack/stop-signals';
import { followRequests, listRequests, type RequestFilter, type RequestRecord } from '../../services/payments/requests';
import type { LunasCommand } from '../lunas-command';
import { limit, textUpTo } from '../option-schemas';
import { formatRow, formatTable } from '../output';
import { requestCells } from '../render-request';

const statuses = z
  .string()
  .regex(/^[1-5](?:\d\d|xx)$/, 'must be a status such as 404, or a class such as 4xx')
  .transform((text): readonly [number, number] => [Number(text.replace('xx', '00')), Number(text.replace('xx', '99'))]);

const input = z.object({
  follow: z.boolean().default(false),
  status: statuses.optional(),
  method: z.string().toUpperCase().optional(),
  path: textUpTo(200).optional(),
  all: z.boolean().default(false),
  key: z.uuid({ error: 'must be the id of a key, a UUID of lunas keys list' }).optional(),
  limit,
  json: z.boolean().default(false),
});

export function defineLogs(logs: LunasCommand): void {
  logs
    .option('--follow', 'print new requests as they are completed, until Ctrl-C; with --json one line for each')
    .option('--status <status>', 'only responses with this status, such as 404, or of this class, such as 4xx')
    .option('--key <id>', 'only requests with this key (`lunas keys list`)')
    .option('--method <method>', 'only requests with this method, such as POST')
    .option('--path <path>', 'only requests whose path begins with this, such as /payments')
    .option('--all', 'also pages, images, documents and notifications of providers')
    .option('--limit <n>', 'maximum number; not with --follow', '20')
    .examples('lunas logs --status 4xx', 'lunas logs --follow --method POST', 'lunas logs --key KEY_ID --json')
    .databaseAction(input, async ({ follow, status, key, limit, json, ...others }, db) => {
      const filter = { statuses: status, keyId: key, ...others };
      if (follow) {
        await printNew(logs, db, filter, json ? jsonLine : textLine);
        return undefined;
      }
      const requests = await listRequests(db, filter, limit);
      return { json: { requests }, text: formatTable(requests.map(requestCells), 'No requests.') };
    });
}

async function printNew(
  { terminal }: LunasCommand,
  db: Pool,
  filter: RequestFilter,
  format: (request: RequestRecord) => string,
): Promise<void> {
  const stopping = new AbortController();
  const warn = (error: unknown) =>
    terminal.stderr.write(`warning: PostgreSQL: ${messageOf(error)}. New requests are shown when it responds.\n`);
  const removeListeners = onStopSignal(
    () => stopping.abort(),
    () => process.exit(1),
  );
  try {
    for await (const request of followRequests(db, filter, stopping.signal, warn)) {
      terminal.stdout.write(`${format(request)}\n`);
    }
  } finally {
    removeListeners();
  }
}

function jsonLine(request: RequestRecord): string {
  return JSON.stringify(snakeCaseKeys(request));
}

function textLine(request: RequestRecord): string {
  return formatRow(requestCells(request));
}

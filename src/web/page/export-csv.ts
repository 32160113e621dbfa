import type { Response } from 'express';
import { z } from 'zod';
import type { Language } from '../../domain/sign-in';
import { messageOf, UserError } from '../../errors';
import { StreamBody, type EndpointResponse } from '../../http/endpoint';
import { writeAndDrain } from '../../http/event-stream';
import { csvCells, toCsv, type CsvCell, type CsvColumns } from '../../lib/csv';
import type { Logger } from '../../observability/logger';
import { PAGE_HEADERS } from './headers';

const PAGE_ROWS = 1_000;
/** A month of a shop has fewer. */
const SMALL_EXPORT_ROWS = 10_000;
export const MAX_EXPORT_ROWS = 500_000;

/** Excel in Indonesian separates by a semicolon: there the comma is the decimal sign. */
const DELIMITERS = { id: ';', en: ',' } as const satisfies Record<Language, string>;

/** The parameter of every export. */
export const delimiterField = z.enum([';', ','], { error: 'delimiter' }).optional();

/** Rows that are read by their position: no page holds a cursor or a transaction. */
export interface CsvExport<Row> {
  /** Without its ending. */
  readonly fileName: string;
  readonly columns: CsvColumns<Row>;
  /** At most `limit` rows that follow the given one, by short statements; null: the first rows. None: the end. */
  readonly readPage: (after: Row | null, limit: number, closed: AbortSignal) => Promise<readonly Row[]>;
  /** The last line, if there are more rows than an export has: where the next one begins. */
  readonly limitLine: (last: Row) => string;
  /** The line after the last row, if rows are missing; null: none are. Absent: none ever are. */
  readonly missingLine?: () => string | null;
  readonly maxRows?: number;
}

export interface ExportSettings {
  readonly language: Language;
  readonly delimiter: z.output<typeof delimiterField>;
  readonly log: Pick<Logger, 'warn'>;
  /** Records the export around its work. */
  readonly record: (work: () => Promise<void>) => Promise<void>;
  /** Called once, if there are more than 10,000 rows. */
  readonly onLarge: () => Promise<void>;
  /** Called once, when the response has ended. */
  readonly onEnd: () => void;
}

/**
 * The rows as CSV (RFC 4180, with a byte order mark). After an error the connection is closed without an end of the
 * body, so that the browser reports the download as not complete.
 */
export function exportCsv<Row>(
  source: CsvExport<Row>,
  { language, delimiter = DELIMITERS[language], log, record, onLarge, onEnd }: ExportSettings,
): EndpointResponse<StreamBody> {
  const headers = {
    ...PAGE_HEADERS,
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${source.fileName}.csv"`,
  };
  const open = (response: Response) => {
    const aborted = new AbortController();
    const end = () => {
      aborted.abort();
      onEnd();
    };
    response.once('close', end);
    if (response.destroyed) end();
    const writing = { delimiter, onLarge, closed: aborted.signal };
    const work = () => untilClosed(aborted.signal, writePages(response, source, writing));
    record(work).catch((error: unknown) => {
      if (!aborted.signal.aborted) log.warn({ reason: messageOf(error) }, 'export not complete');
      response.destroy();
    });
  };
  return { status: 200, headers, body: new StreamBody(open) };
}

/** A browser may leave while a page is read or while it is written: both are recorded alike. */
async function untilClosed(closed: AbortSignal, writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!closed.aborted) throw error;
    throw new UserError('The browser closed the connection before the end of the export.');
  }
}

interface Writing extends Pick<ExportSettings, 'onLarge'> {
  readonly delimiter: ';' | ',';
  readonly closed: AbortSignal;
}

async function writePages<Row>(
  response: Response,
  source: CsvExport<Row>,
  { delimiter, onLarge, closed }: Writing,
): Promise<void> {
  const { maxRows = MAX_EXPORT_ROWS } = source;
  const write = (rows: readonly (readonly CsvCell[])[], bom = false) =>
    writeAndDrain(response, toCsv(rows, { delimiter, bom }), closed);
  await write([Object.keys(source.columns)], true);
  let last: Row | null = null;
  for (let left = maxRows; ;) {
    // At the limit, one more row shows whether there are more.
    const page: readonly Row[] = await source.readPage(last, Math.max(Math.min(PAGE_ROWS, left), 1), closed);
    closed.throwIfAborted();
    if (page.length === 0) {
      const missing = source.missingLine?.() ?? null;
      if (missing !== null) await write([[missing]]);
      break;
    }
    if (left === 0 && last !== null) {
      await write([[source.limitLine(last)]]);
      break;
    }
    const written = maxRows - left;
    if (written <= SMALL_EXPORT_ROWS && written + page.length > SMALL_EXPORT_ROWS) await onLarge();
    await write(page.map((row) => csvCells(source.columns, row)));
    left -= page.length;
    last = page[page.length - 1] ?? last;
  }
  response.end();
}

import type { Command } from 'commander';
import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import { type ExceptionCase, listExceptions, resolveException } from '../../operator/exceptions';
import { commandActor } from '../actor';
import { answering, withExamples } from '../answering';
import { id, note, wholeNumber } from '../inputs';
import { formatTable } from '../output';
import { withDatabase } from '../settings';
import type { Terminal } from '../terminal';

const MOST_EXCEPTIONS = 1_000;

export function addExceptionsCommand(program: Command, terminal: Terminal): void {
  const exceptions = program.command('exceptions').description('late money and other cases that a person decides');
  addList(exceptions, terminal);
  addResolve(exceptions, terminal);
}

function addList(exceptions: Command, terminal: Terminal): void {
  const command = exceptions
    .command('list')
    .description('show the open cases, newest first')
    .option('--all', 'resolved ones too')
    .option('--limit <n>', 'how many', '20');
  const columns = {
    ID: (exception: ExceptionCase) => exception.id,
    OPENED: (exception: ExceptionCase) => exception.openedAt,
    KIND: (exception: ExceptionCase) => exception.kind,
    REFERENCE: (exception: ExceptionCase) => exception.referenceId,
    AMOUNT: ({ amountRupiah }: ExceptionCase) => (amountRupiah === null ? null : formatRupiah(amountRupiah)),
    DETAIL: (exception: ExceptionCase) => exception.detail,
    RESOLVED: ({ resolvedBy, note }: ExceptionCase) => (resolvedBy === null ? null : `by ${resolvedBy}: ${note}`),
  };
  const input = z.object({ all: z.boolean().default(false), limit: wholeNumber(1, MOST_EXCEPTIONS) });
  answering(command, terminal, input, ({ all, limit }, settings) =>
    withDatabase(settings, async (db) => {
      const exceptions = await listExceptions(db, { onlyOpen: !all, limit });
      return { json: { exceptions }, text: formatTable(exceptions, columns, 'No case waits for a person.') };
    }),
  );
}

function addResolve(exceptions: Command, terminal: Terminal): void {
  const command = exceptions
    .command('resolve <exception-id>')
    .description('close a case that has been dealt with')
    .requiredOption('--note <text>', 'what was done about it')
    .option('--refunded', 'late money went back to the customer by hand: book it out of suspense');
  withExamples(command, 'lunas exceptions resolve EXCEPTION_ID --refunded --note "sent back by bank transfer 4711"');
  const input = z.object({ exceptionId: id, note, refunded: z.boolean().default(false) });
  answering(command, terminal, input, ({ exceptionId, note, refunded }, settings) =>
    withDatabase(settings, async (db) => {
      const resolution = { note, isRefunded: refunded };
      const exception = await resolveException(db, commandActor(), exceptionId, resolution);
      return { json: { exception }, text: `${exception.kind} of ${exception.referenceId} is resolved.` };
    }),
  );
}

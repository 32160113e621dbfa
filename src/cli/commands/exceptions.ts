import type { Command } from 'commander';
import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import { type ExceptionRecord, listExceptions, resolveException } from '../../operator/exceptions';
import { commandOperator } from '../operator-identity';
import { defineAction, withExamples } from '../command-action';
import { id, note, wholeNumber } from '../option-schemas';
import { formatTable } from '../output';
import { withDatabase } from '../command-context';
import type { Terminal } from '../terminal';

const MAX_EXCEPTIONS = 1_000;

export function addExceptionsCommand(program: Command, terminal: Terminal): void {
  const exceptions = program
    .command('exceptions')
    .description('late payments and other cases that require an operator');
  addList(exceptions, terminal);
  addResolve(exceptions, terminal);
}

function addList(exceptions: Command, terminal: Terminal): void {
  const command = exceptions
    .command('list')
    .description('list the open exceptions, newest first')
    .option('--all', 'include resolved exceptions')
    .option('--limit <n>', 'maximum number', '20');
  const columns = {
    ID: (exception: ExceptionRecord) => exception.id,
    OPENED: (exception: ExceptionRecord) => exception.openedAt,
    KIND: (exception: ExceptionRecord) => exception.kind,
    REFERENCE: (exception: ExceptionRecord) => exception.referenceId,
    AMOUNT: ({ amountRupiah }: ExceptionRecord) => (amountRupiah === null ? null : formatRupiah(amountRupiah)),
    DETAIL: (exception: ExceptionRecord) => exception.detail,
    RESOLVED: ({ resolvedBy, note }: ExceptionRecord) => (resolvedBy === null ? null : `by ${resolvedBy}: ${note}`),
  };
  const input = z.object({ all: z.boolean().default(false), limit: wholeNumber(1, MAX_EXCEPTIONS) });
  defineAction(command, terminal, input, ({ all, limit }, context) =>
    withDatabase(context, async (db) => {
      const exceptions = await listExceptions(db, { onlyOpen: !all, limit });
      return { json: { exceptions }, text: formatTable(exceptions, columns, 'No exception requires an operator.') };
    }),
  );
}

function addResolve(exceptions: Command, terminal: Terminal): void {
  const command = exceptions
    .command('resolve <exception-id>')
    .description('close an exception that an operator has handled')
    .requiredOption('--note <text>', 'what was done about it')
    .option('--refunded', 'the late payment was refunded manually: post it out of suspense');
  withExamples(command, 'lunas exceptions resolve EXCEPTION_ID --refunded --note "sent back by bank transfer 4711"');
  const input = z.object({ exceptionId: id, note, refunded: z.boolean().default(false) });
  defineAction(command, terminal, input, ({ exceptionId, note, refunded }, context) =>
    withDatabase(context, async (db) => {
      const resolution = { note, isRefunded: refunded };
      const exception = await resolveException(db, commandOperator(), exceptionId, resolution);
      return { json: { exception }, text: `${exception.kind} of ${exception.referenceId} is resolved.` };
    }),
  );
}

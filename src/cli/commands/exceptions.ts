import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import type { Reasons } from '../../services/operations/rejections';
import { requireDone } from '../../services/operations/require-done';
import { listExceptions, type ExceptionRecord } from '../../services/payments/exceptions';
import { resolveException, resolveExceptionAsRefunded } from '../../services/payments/resolve-exception';
import type { LunasCommand } from '../lunas-command';
import { id, limit, note } from '../option-schemas';
import { formatTable } from '../output';

export function defineExceptions(exceptions: LunasCommand): void {
  const resolveInput = z.object({ exceptionId: id, note, refunded: z.boolean().default(false) });
  exceptions
    .command('list')
    .description('list the open exceptions, newest first')
    .option('--all', 'include resolved exceptions')
    .option('--limit <n>', 'maximum number', '20')
    .databaseAction(z.object({ all: z.boolean().default(false), limit }), async ({ all, limit }, db) => {
      const exceptions = await listExceptions(db, { onlyOpen: !all, limit });
      const rows = exceptions.map(({ amountRupiah, resolvedBy, ...exception }) => ({
        ID: exception.id,
        OPENED: exception.openedAt,
        KIND: exception.kind,
        REFERENCE: exception.referenceId,
        AMOUNT: amountRupiah === null ? null : formatRupiah(amountRupiah),
        DETAIL: exception.detail,
        RESOLVED: resolvedBy === null ? null : `by ${resolvedBy}: ${exception.note}`,
      }));
      return { json: { exceptions }, text: formatTable(rows, 'No exception requires an operator.') };
    });
  exceptions
    .command('resolve <exception-id>')
    .description('close an exception that an operator has handled')
    .requiredOption('--note <text>', 'what was done about it')
    .option('--refunded', 'the late payment was refunded manually: post it out of suspense')
    .examples('lunas exceptions resolve EXCEPTION_ID --refunded --note "sent back by bank transfer 4711"')
    .writeAction(resolveInput, async ({ exceptionId, note, refunded }, audit) => {
      const operation = refunded ? resolveExceptionAsRefunded : resolveException;
      const call = { path: { exception: exceptionId }, input: {}, formId: uuidv7(), note };
      const exception = requireDone<ExceptionRecord, Reasons>(await operation.run(audit, audit.actor, call));
      return { json: { exception }, text: `${exception.kind} of ${exception.referenceId} is resolved.` };
    });
}

import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { requireDone } from '../../services/operations/require-done';
import { eraseCustomer } from '../../services/payments/erase-customer';
import { showCustomer } from '../../services/payments/show-customer';
import type { LunasCommand } from '../lunas-command';
import { formatFields } from '../output';
import { runOperation } from '../run-operation';

const input = z.object({ payment: z.string() });

export function defineCustomers(customers: LunasCommand): void {
  customers
    .command('show <payment>')
    .description("show a payment's customer and metadata, as the merchant sent them; the audit log has who saw them")
    .examples('lunas customers show LN0123456789ABCDEF --note "dispute, ticket 4711"')
    .writeAction(input, async ({ payment }, audit, context) => {
      const { db, log } = audit;
      const needs = { db, log, sealer: await context.sealer(db) };
      const details = requireDone(await runOperation(audit, showCustomer, needs, { path: { payment }, input: {} }));
      const { referenceId, customer, metadata, description, erasedAt } = details;
      const sent = { Customer: describe(customer), Metadata: describe(metadata), Description: description };
      return { json: { ...details }, text: formatFields({ Payment: referenceId, ...sent, Erased: erasedAt }) };
    });
  addErase(customers);
}

function addErase(customers: LunasCommand): void {
  customers
    .command('erase <payment>')
    .description("delete a payment's customer and metadata permanently; the payment and its ledger stay")
    .examples('lunas customers erase LN0123456789ABCDEF --note "request of the customer, ticket 4711"')
    .writeAction(
      input,
      async ({ payment }, audit) => {
        const erased = requireDone(await runOperation(audit, eraseCustomer, audit, { path: { payment }, input: {} }));
        return {
          json: { ...erased, erased: true },
          text: `${erased.referenceId} has no personal data any more. Backups have it until they are deleted.`,
        };
      },
      { statementTimeoutMs: LONG_STATEMENT_MS },
    );
}

function describe(object: ReadonlyMap<string, unknown> | null): string | null {
  return object && [...object].map(([name, value]) => `${name}: ${String(value)}`).join(', ');
}

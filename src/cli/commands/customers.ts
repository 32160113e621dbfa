import { z } from 'zod';
import { eraseDetails } from '../../db/payment-details';
import { LONG_STATEMENT_MS } from '../../db/pool';
import { withAudit } from '../../operator/audit';
import { type CustomerDetails, showCustomer } from '../../operator/customers';
import { findPayment } from '../../operator/find-payment';
import type { LunasCommand } from '../lunas-command';
import { commandOperator } from '../operator-identity';
import { note } from '../option-schemas';
import { formatFields } from '../output';

const input = z.object({ payment: z.string(), note: note.optional() });

export function addCustomersCommand(program: LunasCommand): void {
  const customers = program.command('customers').description('personal data of the customers who pay');
  customers
    .command('show <payment>')
    .description("show a payment's customer and metadata, as the merchant sent them; the audit log has who saw them")
    .option('--note <text>', 'why, for the audit log')
    .databaseAction(input, async ({ payment, note }, db, context) => {
      const { id } = await findPayment(db, payment);
      const sealer = await context.sealer(db);
      const action = { action: 'customer.show', target: id, note } as const;
      const details = await withAudit(db, commandOperator(), action, () => showCustomer(db, sealer, id));
      return { json: { ...details }, text: renderCustomer(details) };
    });
  addErase(customers);
}

function addErase(customers: LunasCommand): void {
  customers
    .command('erase <payment>')
    .description("delete a payment's customer and metadata permanently; the payment and its ledger stay")
    .option('--note <text>', 'why, for the audit log')
    .examples('lunas customers erase LN0123456789ABCDEF --note "request of the customer, ticket 4711"')
    .databaseAction(
      input,
      async ({ payment, note }, db) => {
        const { id, referenceId } = await findPayment(db, payment);
        const action = { action: 'customer.erase', target: id, note } as const;
        await withAudit(db, commandOperator(), action, () => eraseDetails(db, id));
        return {
          json: { paymentId: id, referenceId, erased: true },
          text: `${referenceId} has no personal data any more. Backups have it until they are deleted.`,
        };
      },
      LONG_STATEMENT_MS,
    );
}

function renderCustomer({ referenceId, customer, metadata, erasedAt }: CustomerDetails): string {
  return formatFields({
    Payment: referenceId,
    Customer: describe(customer),
    Metadata: describe(metadata),
    Erased: erasedAt,
  });
}

function describe(object: ReadonlyMap<string, unknown> | null): string | null {
  return object && [...object].map(([name, value]) => `${name}: ${String(value)}`).join(', ');
}

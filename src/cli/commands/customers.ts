import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { eraseDetails } from '../../db/payments/payment-details';
import { ERASE_CUSTOMER, SHOW_CUSTOMER, showCustomer, type CustomerDetails } from '../../services/payments/customers';
import { findPayment } from '../../services/payments/find-payment';
import type { LunasCommand } from '../lunas-command';
import { formatFields } from '../output';

const input = z.object({ payment: z.string() });

export function addCustomersCommand(program: LunasCommand): void {
  const customers = program.command('customers').description('personal data of the customers who pay');
  customers
    .command('show <payment>')
    .description("show a payment's customer and metadata, as the merchant sent them; the audit log has who saw them")
    .examples('lunas customers show LN0123456789ABCDEF --note "dispute, ticket 4711"')
    .writeAction(input, async ({ payment }, audit, context) => {
      const { id } = await findPayment(audit.db, payment);
      const sealer = await context.sealer(audit.db);
      const details = await audit.record(SHOW_CUSTOMER, id, () => showCustomer(audit.db, sealer, id));
      return { json: { ...details }, text: renderCustomer(details) };
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
        const { id, referenceId } = await findPayment(audit.db, payment);
        await audit.record(ERASE_CUSTOMER, id, () => eraseDetails(audit.db, id));
        return {
          json: { paymentId: id, referenceId, erased: true },
          text: `${referenceId} has no personal data any more. Backups have it until they are deleted.`,
        };
      },
      { statementTimeoutMs: LONG_STATEMENT_MS },
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

import type { Pool } from 'pg';
import type { Provider } from '../../src/providers/provider';

/**
 * An acquirer that does not store idempotency keys, but returns the QR in its status: only a status query prevents a
 * second charge. At the sandbox the key prevents it.
 */
export function forgetKeys(provider: Provider, ledger: Pool): Provider {
  return {
    ...provider,
    async issueQris(request, call) {
      const outcome = await provider.issueQris(request, call);
      await ledger.query('update payments set idempotency_key = null where order_id = $1', [request.referenceId]);
      return outcome;
    },
    async findPayment(order, call) {
      const found = await provider.findPayment(order, call);
      if (found.outcome !== 'found') return found;
      const { rows } = await ledger.query<{ qr: string }>('select qr_string as qr from payments where order_id = $1', [
        order.referenceId,
      ]);
      return { outcome: 'found', payment: { ...found.payment, qrisPayload: rows[0]?.qr ?? null } };
    },
  };
}

import { parseQris, type Qris } from '../qris/qris';
import type { Ledger } from './ledger';
import type { OrderWithRefunds } from './ledger-records';

/** What a customer's app knows of a text that it has scanned. */
export type Scanned =
  | { readonly isQris: false; readonly problem: string }
  /** `found` is null for a QR of another acquirer, or one without amount. */
  | { readonly isQris: true; readonly text: string; readonly qris: Qris; readonly found: OrderWithRefunds | null };

/** Reads the text of a QR, and finds its order. */
export async function scan(ledger: Ledger, text: string): Promise<Scanned> {
  const qris = parseQris(text);
  if (!qris.ok) return { isQris: false, problem: qris.error.message };
  const { transactionId, totalRupiah } = qris.value;
  const isDynamic = transactionId !== null && totalRupiah !== null;
  const found = isDynamic ? await ledger.findByQr(transactionId, totalRupiah) : null;
  return { isQris: true, text, qris: qris.value, found };
}

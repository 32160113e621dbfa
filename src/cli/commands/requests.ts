import { z } from 'zod';
import { formatRupiah } from '../../domain/money';
import { showRequest, type RequestDetails } from '../../services/payments/requests';
import type { LunasCommand } from '../lunas-command';
import { textUpTo } from '../option-schemas';
import { formatFields, formatTable } from '../output';
import { requestCells } from '../render-request';

/** The API replaces a longer `X-Request-Id` by its own. */
const MAX_ID_CHARACTERS = 128;

export function defineRequests(requests: LunasCommand): void {
  requests
    .command('show <request-id>')
    .description('show a request by its X-Request-Id, with the payments that it created, changed or read')
    .examples('lunas requests show 8b6a3fd3-990d-49af-8e4b-e7cd7d637d3b')
    .databaseAction(z.object({ requestId: textUpTo(MAX_ID_CHARACTERS) }), async ({ requestId }, db) => {
      const details = await showRequest(db, requestId);
      return { json: { ...details }, text: renderRequest(details) };
    });
}

function renderRequest({ request, earlierRequests, payments }: RequestDetails): string {
  const { id, keyId, key, startedAt, method, path, status, durationMs } = request;
  const fields = formatFields({
    Request: id,
    Started: startedAt,
    Key: key === null ? null : `${key} (${keyId})`,
    Call: `${method} ${path}`,
    Status: status ?? 'aborted: the connection was closed before the response was complete',
    Duration: `${durationMs} ms`,
    Error: request.errorCode,
    Reason: request.errorReason,
    Detail: request.errorDetail,
    'Ignored fields': namesOrNull(request.ignoredFields),
    'Ignored parameters': namesOrNull(request.ignoredParameters),
  });
  const paymentRows = payments.map((payment) => ({
    PAYMENT: payment.id,
    REFERENCE: payment.referenceId,
    STATUS: payment.status,
    TOTAL: formatRupiah(payment.totalRupiah),
    CREATED: payment.createdAt,
    MERCHANT: payment.merchantId,
  }));
  const sections = [fields, formatTable(paymentRows, 'No payments.')];
  if (earlierRequests.length > 0) {
    sections.push(`Earlier requests with this id:\n${formatTable(earlierRequests.map(requestCells), '')}`);
  }
  return sections.join('\n\n');
}

const namesOrNull = (names: readonly string[]) => (names.length === 0 ? null : names.join(', '));

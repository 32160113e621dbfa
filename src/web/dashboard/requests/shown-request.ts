import { maskSecretKey } from '../../../crypto/secret-key';
import type { MerchantRequestRow } from '../../../db/merchants/list-merchant-requests';
import type { ShownRequest } from './request-parts';

/** A recorded request with the name of its key, else with the masked key. */
export function shownRequest(row: MerchantRequestRow): ShownRequest {
  const { keyName, keyPrefix, keyLastFour, ...request } = row;
  const masked =
    keyPrefix === null || keyLastFour === null ? null : maskSecretKey({ prefix: keyPrefix, lastFour: keyLastFour });
  return { ...request, key: keyName ?? masked };
}

import { maskSecretKey } from '../../../crypto/secret-key';
import type { OriginKey, OriginPolicy, PaymentOrigin } from '../../../db/payments/find-payment-origin';
import { rateText } from '../../../domain/rate-text';
import { formatDuration } from '../../ui/format';
import { keyPath } from '../keys/key-paths';
import { linkPath } from '../links/link-paths';
import { LINK_TEXTS } from '../links/link-texts';
import type { MerchantView } from '../merchant-view';
import { requestPath } from '../requests/request-paths';
import type { ShownOrigin } from './payment-facts';
import { PAYMENT_TEXTS } from './payment-texts';

/** Who created a payment and by which policy, in words. A link is only to what the user may see. */
export function describeOrigin(view: MerchantView, origin: PaymentOrigin): ShownOrigin {
  const { personName, requestId, key, link, policy } = origin;
  const maySee = view.rightRejection('developers', 'view') === null;
  const keyHref = key !== null && maySee ? keyPath.to({ code: view.code, key: key.id }) : null;
  return {
    createdBy: link ? LINK_TEXTS[view.locale.language].byLink(link.title) : (personName ?? keyText(view, key)),
    creatorHref: link ? linkPath.to({ ...view, link: link.referenceId }) : keyHref,
    requestId,
    requestHref: key !== null && requestId !== null && maySee ? requestPath.to({ ...view, request: requestId }) : null,
    policy: policyText(view, policy),
  };
}

/** The key while its request is recorded; after that, that it was one. */
function keyText(view: MerchantView, key: OriginKey | null): string {
  const { key: name } = PAYMENT_TEXTS[view.locale.language];
  return key === null ? name : `${name} ${key.name ?? maskSecretKey(key)}`;
}

function policyText(view: MerchantView, policy: OriginPolicy): string {
  const { texts, locale } = view;
  const { policyVersion, settledAfter, settledByLunas } = PAYMENT_TEXTS[locale.language];
  const fee = texts.create.feeOf(rateText(locale.language, policy.feeBasisPoints, policy.feeFlatRupiah));
  const settlement =
    policy.settlementKind === 'manual'
      ? settledByLunas
      : settledAfter(formatDuration(policy.settlementDelaySeconds, locale.language));
  return `${policyVersion(policy.version)}: ${fee}, ${settlement}`;
}

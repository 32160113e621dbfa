import type { Environment } from '../../config';
import type { Queryable } from '../../db/connection/pool';
import { mayPassFee } from '../../domain/fee-classes';
import type { FeePayer } from '../../domain/fees';
import type { MerchantClass } from '../../domain/merchant-identity';
import type { Reasons, RejectionTexts } from '../operations/rejections';

export const FEE_PAYER_REASONS = { merchant_bears_fee: {} } as const satisfies Reasons;

export const FEE_PAYER_MESSAGES: RejectionTexts<typeof FEE_PAYER_REASONS> = {
  merchant_bears_fee: () =>
    'The merchant bears the fee: Bank Indonesia forbids to pass the MDR on to customers ' +
    '(PBI 23/6/PBI/2021, article 52(1)).',
};

/** Whether production rejects it. In a sandbox customers may pay the fee. */
export function isUnlawfulFeePayer(
  feePayer: FeePayer | undefined,
  environment: Environment | null,
  ownClass: MerchantClass | null,
): boolean {
  return feePayer === 'buyer' && environment === 'production' && !mayPassFee(ownClass);
}

/** The merchants whose customers pay the fee, and may not: such a merchant is from before the rule. */
export async function listUnlawfulFeePayers(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    "select id from merchants where fee_payer = 'buyer' and not may_pass_fee(id) order by id",
  );
  return rows.map(({ id }) => id);
}

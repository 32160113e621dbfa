/** What a merchant does, as far as Bank Indonesia's fees depend on it. */
export const MERCHANT_CATEGORIES = ['regular', 'education', 'fuel', 'public_service', 'social'] as const;
export type MerchantCategory = (typeof MERCHANT_CATEGORIES)[number];

/** The size of a merchant, as its QRs have it: micro, small, medium, large. */
export const MERCHANT_CRITERIA = ['UMI', 'UKE', 'UME', 'UBE'] as const;
export type MerchantCriterion = (typeof MERCHANT_CRITERIA)[number];

/** The class of a merchant: its size, unless its category has a class of its own. */
export type MerchantClass = MerchantCriterion | Exclude<MerchantCategory, 'regular'>;

export function classOf({
  category,
  criterion,
}: {
  readonly category: MerchantCategory;
  readonly criterion: MerchantCriterion;
}): MerchantClass {
  return category === 'regular' ? criterion : category;
}

/** How long before the end of its documents an identity is a case for operators. */
export const EXPIRY_NOTICE_DAYS = 30;

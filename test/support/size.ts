const IS_FULL = process.env.LUNAS_TEST_SIZE === 'full';

/**
 * @returns the full size in `npm run test:proof` (jest.proof.config.cjs), else the small one: the smallest at which the
 * property can fail
 */
export function bySize<T>(sizes: { readonly small: T; readonly full: T }): T {
  return IS_FULL ? sizes.full : sizes.small;
}

/** Tests without a smaller size: only `npm run test:proof` runs them. */
export const describeInFullSize = IS_FULL ? describe : describe.skip;

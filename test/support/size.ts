/**
 * @returns the full size in `npm run test:proof` (jest.proof.config.cjs), else the small one: the smallest at which the
 * property can fail
 */
export function bySize<T>(sizes: { readonly small: T; readonly full: T }): T {
  return process.env.LUNAS_TEST_SIZE === 'full' ? sizes.full : sizes.small;
}

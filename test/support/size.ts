/**
 * @returns the full size in `npm run test:slow` (jest.slow.config.cjs), else the small one. `LUNAS_TEST_SIZE=small`
 * sets the small one there, too.
 */
export function bySize<T>(sizes: { readonly small: T; readonly full: T }): T {
  return process.env.LUNAS_TEST_SIZE === 'full' ? sizes.full : sizes.small;
}

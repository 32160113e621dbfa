import type { ReactElement } from 'react';

/** The icons of actions, from Lucide as those of `icon.tsx`. Few pages have them, so each is drawn where it stands. */
const PATHS = {
  copy:
    'M10 8h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H10a2 2 0 0 1-2-2V10a2 2 0 0 1 2-2M4 16c-1.1 0-2-.9-2-2V4' +
    'c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2',
  send: 'M7.9 20A9 9 0 1 0 4 16.1L2 22Z',
  save: 'M12 15V3M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4M7 10l5 5 5-5',
  print:
    'M6 18H4a2 2 0 0 1-2-2v-5a2 2 0 0 1 2-2h16a2 2 0 0 1 2 2v5a2 2 0 0 1-2 2h-2M6 9V3a1 1 0 0 1 1-1h10' +
    'a1 1 0 0 1 1 1v6M7 14h10a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1',
} as const;

/** The icon of an action, whose name stands beside it. */
export function ActionIcon({ name }: { readonly name: keyof typeof PATHS }): ReactElement {
  return (
    <svg className="icon" aria-hidden="true" viewBox="0 0 24 24">
      <path d={PATHS[name]} />
    </svg>
  );
}

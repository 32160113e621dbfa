import { z } from 'zod';

/** What the operations of operators on the whole installation have in common. They throw a rejection as an error. */
export const ofInstallation = {
  operator: 'all',
  path: z.object({}),
  rejections: {},
  messages: {},
} as const;

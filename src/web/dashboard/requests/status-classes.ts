/** The groups of status codes in the list of requests. */
export const STATUS_CLASSES = ['all', 'successful', 'rejected', 'failed'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

import type { WebhookEvent } from '../../../domain/events';

/** The checkbox of an event. */
export const eventField = (event: WebhookEvent): string => event.replace('.', '_');

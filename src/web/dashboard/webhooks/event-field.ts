import type { PaymentEvent } from '../../../domain/events';

/** The checkbox of an event. */
export const eventField = (event: PaymentEvent): string => event.replace('.', '_');

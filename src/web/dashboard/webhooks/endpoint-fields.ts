import type { WebhookEvent } from '../../../domain/events';
import type { Expansion } from '../../../domain/expansions';

/** The checkbox of an event. */
export const eventField = (event: WebhookEvent): string => event.replace('.', '_');

/** The checkbox of a member that the endpoint adds. */
export const expansionField = (name: Expansion): string => `expand_${name}`;

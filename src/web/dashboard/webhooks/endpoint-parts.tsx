import type { ReactElement } from 'react';
import type { WebhookEvent } from '../../../domain/events';
import type { WebhookExpansion } from '../../../domain/expansions';
import { StateChip } from '../../ui/chip';
import type { Fact } from '../../ui/layout';
import type { MerchantView } from '../merchant-view';
import { WEBHOOK_TEXTS } from './webhook-texts';

/** An endpoint as pages show it. */
export interface ShownEndpoint {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[] | null;
  readonly expand: readonly WebhookExpansion[];
  readonly status: 'enabled' | 'disabled';
  readonly disabledReason: 'gone' | 'failing' | 'operator' | 'merchant' | null;
  readonly failingSince: Date | null;
  readonly nextProbeAt: Date | null;
  readonly pending: number;
  readonly createdAt: Date;
}

interface EndpointProps {
  readonly view: MerchantView;
  readonly endpoint: ShownEndpoint;
}

export function EndpointChip({ view, endpoint }: EndpointProps): ReactElement {
  const { states } = WEBHOOK_TEXTS[view.locale.language];
  if (endpoint.status === 'disabled') return <StateChip tone="neutral" label={states.disabled} />;
  if (endpoint.failingSince) return <StateChip tone="bad" label={states.failing} />;
  return <StateChip tone="good" label={states.enabled} />;
}

/** Path and query may contain secrets of the merchant, so lists show neither. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

export function eventsText(view: MerchantView, { events }: ShownEndpoint): string {
  return events?.join(', ') ?? WEBHOOK_TEXTS[view.locale.language].allEvents;
}

/** Each of two counts ends at 100. */
const MAX_COUNTED = 100;

/** How many deliveries wait, as far as they are counted. */
export function pendingText({ pending }: Pick<ShownEndpoint, 'pending'>): string {
  return pending < MAX_COUNTED ? String(pending) : `${MAX_COUNTED}+`;
}

/** What an action concerns. */
export function endpointFacts(view: MerchantView, endpoint: ShownEndpoint): Fact[] {
  const { columns } = WEBHOOK_TEXTS[view.locale.language];
  return [
    { name: columns.url, value: <code className="breakable">{endpoint.url}</code> },
    { name: columns.events, value: eventsText(view, endpoint) },
    { name: columns.pending, value: pendingText(endpoint) },
  ];
}

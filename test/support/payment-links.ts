import { randomUUID } from 'node:crypto';
import type { Pool } from '../../src/db/connection/pool';
import type { TestService } from './service';

export interface TestLink {
  readonly id: string;
  readonly referenceId: string;
  /** The address of its page. */
  readonly url: string;
}

/** An active link of the demo merchant; without other fields, a once-link of Rp50,000. */
export async function createTestLink(
  service: Pick<TestService, 'call'>,
  fields: Readonly<Record<string, unknown>> = { amount: 50_000 },
): Promise<TestLink> {
  const body = { kind: 'once', title: 'Invoice 1042', ...fields };
  const response = await service.call('POST', '/payment-links', body);
  if (response.status !== 201) throw new Error(`The link was not made: ${JSON.stringify(response.body)}`);
  const { id, reference_id: referenceId, url } = response.body.payment_link;
  return { id, referenceId, url };
}

interface VisitorsForm {
  readonly attempt?: string;
  readonly amount?: string;
  readonly language?: string;
}

/** A visitor presses the button of a link's page. */
export function pressButton(
  { url }: Pick<TestLink, 'url'>,
  { attempt = randomUUID(), amount = '', language = 'en' }: VisitorsForm = {},
): Promise<Response> {
  const body = new URLSearchParams({ attempt, amount });
  return fetch(`${url}?lang=${language}`, { method: 'POST', body, redirect: 'manual' });
}

/** The payments of a link, the oldest first. A number whose payment was never created is not among them. */
export async function paymentsOfLink(db: Pool, { id }: Pick<TestLink, 'id'>) {
  const { rows } = await db.query<{ id: string; referenceId: string; status: string }>(
    `select payments.id, reference_id as "referenceId", status
     from payment_link_payments own join payments on payments.id = own.payment_id
     where own.link_id = $1 order by own.number`,
    [id],
  );
  return rows;
}

import type { ReactElement } from 'react';
import { Card } from '../../ui/layout';
import { Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { DELIVERY_TEXTS } from './delivery-texts';

interface ShownAttempt {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly failure: string | null;
  readonly responseExcerpt: string | null;
}

interface AttemptsProps {
  readonly view: MerchantView;
  readonly attempts: readonly ShownAttempt[];
}

/** The attempts of a delivery. The excerpts come from strangers: they are text, never markup. */
export function Attempts({ view, attempts }: AttemptsProps): ReactElement {
  const { detail } = DELIVERY_TEXTS[view.locale.language];
  if (attempts.length === 0) {
    return (
      <Card title={detail.attempts} part="attempts" version="0">
        <p className="card-body dim">{detail.noAttempts}</p>
      </Card>
    );
  }
  return (
    <Card title={detail.attempts} part="attempts" version={String(attempts.length)}>
      <ol className="attempts">
        {attempts.map(({ number, startedAt, durationMs, statusCode, failure, responseExcerpt }) => (
          <li key={number}>
            <p className="attempt">
              <span className="breakable">
                {detail.attempt(number, failure ?? String(statusCode ?? detail.noResponse), durationMs)}
              </span>
              <span className="dim">
                <Time at={new Date(startedAt)} style="full" locale={view.locale} />
              </span>
            </p>
            {responseExcerpt !== null && responseExcerpt !== '' && (
              <div className="copied-text">
                <pre>
                  <code>{responseExcerpt}</code>
                </pre>
              </div>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** A text as it is sent. */
export function Text({ title, text }: { readonly title: string; readonly text: string }): ReactElement {
  return (
    <Card title={title}>
      <div className="card-body">
        <div className="copied-text">
          <pre role="group" aria-label={title}>
            <code>{text}</code>
          </pre>
        </div>
      </div>
    </Card>
  );
}

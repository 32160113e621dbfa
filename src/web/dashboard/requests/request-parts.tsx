import type { ReactElement } from 'react';
import { StateChip, type Tone } from '../../ui/chip';
import type { RequestTexts } from './request-texts';

/** A request to the API as pages show it. */
export interface ShownRequest {
  readonly id: number;
  readonly requestId: string;
  readonly startedAt: Date;
  readonly keyId: string;
  /** The name of the key, else masked; null: there is no such key any more. */
  readonly key: string | null;
  readonly method: string;
  readonly path: string;
  /** Null: the connection was closed before the response was complete. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly errorCode: string | null;
  readonly errorReason: string | null;
  /** Names of what Lunas did not read. */
  readonly ignoredFields: readonly string[];
  readonly ignoredParameters: readonly string[];
  readonly paymentIds: readonly string[];
}

interface IgnoredNamesProps {
  readonly names: readonly string[];
}

export function IgnoredNames({ names }: IgnoredNamesProps): ReactElement {
  return <code>{names.join(', ')}</code>;
}

interface StatusCodeProps {
  readonly status: number | null;
  readonly texts: RequestTexts;
}

export function StatusCode({ status, texts }: StatusCodeProps): ReactElement {
  return <StateChip tone={toneOf(status)} label={status === null ? texts.closed : String(status)} />;
}

function toneOf(status: number | null): Tone {
  if (status === null) return 'neutral';
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warning' : 'good';
}

interface ErrorOfProps {
  readonly request: ShownRequest;
  readonly texts: RequestTexts;
}

/** The error of a request, or how many names of it were ignored. */
export function ErrorOf({ request, texts }: ErrorOfProps): ReactElement {
  const { errorCode, errorReason, ignoredFields, ignoredParameters } = request;
  const ignored = ignoredFields.length + ignoredParameters.length;
  if (errorCode === null) return <span className="dim">{ignored === 0 ? '–' : texts.ignored(ignored)}</span>;
  return (
    <>
      <code>{errorCode}</code>
      {errorReason !== null && <code className="dim under">{errorReason}</code>}
    </>
  );
}

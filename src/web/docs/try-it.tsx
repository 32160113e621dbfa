import type { ReactElement } from 'react';

/** One input of the form. */
export interface TriedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly isRequired: boolean;
}

export interface TryItProps {
  readonly method: 'GET' | 'POST';
  /** With parameters in braces: `/payments/{id}`. */
  readonly address: string;
  readonly parameters: readonly TriedParameter[];
  /** The first example; null: the operation has no body. */
  readonly body: string | null;
}

/**
 * A form that sends the request from the browser, to this service. The script shows it; it exists only in the sandbox,
 * since a key for real money must not be in a browser.
 */
export function TryIt({ method, address, parameters, body }: TryItProps): ReactElement {
  const isUsual = ({ name, isRequired }: TriedParameter) => isRequired || name === 'Idempotency-Key';
  const others = parameters.filter((parameter) => !isUsual(parameter));
  return (
    <details className="try-it card no-print" hidden>
      <summary>Try it in the sandbox</summary>
      <form data-method={method} data-address={address}>
        <div className="field">
          <label htmlFor="try-key">Secret key of the sandbox</label>
          <input
            id="try-key"
            name="key"
            type="password"
            autoComplete="off"
            required
            pattern="\s*sk_test_\w+\s*"
            title="A key of the sandbox, sk_test_…"
            aria-describedby="try-key-hint"
          />
          <p id="try-key-hint" className="hint">
            Only <code>sk_test_…</code>. This tab keeps it until you close it.
          </p>
        </div>
        {parameters.filter(isUsual).map(renderParameter)}
        {others.length > 0 && (
          <details>
            <summary>Optional parameters</summary>
            {others.map(renderParameter)}
          </details>
        )}
        {body !== null && (
          <div className="field">
            <label htmlFor="try-body">Body</label>
            <textarea id="try-body" name="body" rows={body.split('\n').length} defaultValue={body} spellCheck={false} />
          </div>
        )}
        <button className="button primary">Send</button>
        <div className="tried" role="status" />
      </form>
    </details>
  );
}

function renderParameter({ name, in: location, isRequired }: TriedParameter): ReactElement {
  const id = `try-${location}-${name}`;
  return (
    <div key={id} className="field">
      <label htmlFor={id}>
        <code>{name}</code>
      </label>
      <input id={id} name={`${location}:${name}`} required={isRequired} autoComplete="off" spellCheck={false} />
    </div>
  );
}

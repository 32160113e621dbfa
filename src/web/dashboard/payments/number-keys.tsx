import type { ReactElement } from 'react';
import type { MerchantView } from '../merchant-view';
import { PAYMENT_TEXTS } from './payment-texts';

interface NumberKeysProps {
  readonly view: MerchantView;
  /** In rows of three. */
  readonly keys: readonly string[];
  /** Whether they are shown on every device; else only where fingers type. */
  readonly isEverywhere?: true;
}

/** The keys of a phone for an amount. Only a script can use them. */
export function NumberKeys({ view, keys, isEverywhere }: NumberKeysProps): ReactElement {
  return (
    <div className="number-keys" data-everywhere={isEverywhere && ''} hidden>
      {keys.map((key) => (
        <NumberKey key={key} view={view} name={key} />
      ))}
    </div>
  );
}

/** One key: digits, or `delete`. */
function NumberKey({ view, name }: { readonly view: MerchantView; readonly name: string }): ReactElement {
  const isDelete = name === 'delete';
  return (
    <button
      type="button"
      className="button"
      data-key={name}
      aria-label={isDelete ? PAYMENT_TEXTS[view.locale.language].deleteDigit : undefined}
    >
      {isDelete ? '⌫' : name}
    </button>
  );
}
